// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package byhand is package typed written against the SDK alone, as careful servers do: the state is encrypted, bound to
// the caller and to the table, and expires. It is not single-use, knows one key, and does not count rounds.
package byhand

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/adopt/store"
)

type args struct {
	Table string `json:"table"`
}

type result struct {
	Dropped bool `json:"dropped"`
	Rows    int  `json:"rows"`
}

// AddTools registers drop_table. The key has 32 bytes.
func AddTools(server *mcp.Server, db *store.DB, key []byte) error {
	s, err := newSealer(key)
	if err != nil {
		return err
	}
	mcp.AddTool(server, &mcp.Tool{Name: "drop_table", Description: "Drop a table."},
		func(ctx context.Context, req *mcp.CallToolRequest, in args) (*mcp.CallToolResult, any, error) {
			res, err := drop(ctx, req, in, db, s)
			return res, nil, err
		})
	return nil
}

// begin

const (
	version  = "2026-07-28"
	lifetime = 10 * time.Minute
	question = "name"
)

type state struct {
	Subject string    `json:"subject"`
	Table   string    `json:"table"`
	TableID string    `json:"tableId"`
	Expires time.Time `json:"expires"`
}

type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (*sealer, error) {
	if len(key) != 32 {
		return nil, errors.New("the key must have 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &sealer{aead}, nil
}

func (s *sealer) seal(st state) (string, error) {
	plain, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, s.aead.NonceSize())
	rand.Read(nonce)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, plain, nil)), nil
}

func (s *sealer) open(text string) (st state, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return st, errors.New("the requestState is not valid")
	}
	n := s.aead.NonceSize()
	plain, err := s.aead.Open(nil, raw[:n], raw[n:], nil)
	if err != nil {
		return st, errors.New("the requestState is not valid")
	}
	if err := json.Unmarshal(plain, &st); err != nil {
		return st, errors.New("the requestState is not valid")
	}
	return st, nil
}

func subjectOf(req *mcp.CallToolRequest) (string, error) {
	if req.Extra == nil || req.Extra.TokenInfo == nil || req.Extra.TokenInfo.UserID == "" {
		return "", errors.New("this tool needs an authenticated caller")
	}
	return req.Extra.TokenInfo.UserID, nil
}

func canAskForms(req *mcp.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

func ask(s *sealer, subject string, in args, table store.Table) (*mcp.CallToolResult, error) {
	sealed, err := s.seal(state{Subject: subject, Table: in.Table, TableID: table.ID, Expires: time.Now().Add(lifetime)})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		RequestState: sealed,
		InputRequests: mcp.InputRequestMap{question: &mcp.ElicitParams{
			Mode:    "form",
			Message: "Type " + in.Table + " to drop it for good.",
			RequestedSchema: map[string]any{
				"type": "object",
				"properties": map[string]any{
					"name": map[string]any{"type": "string", "title": "Name of the table"},
				},
				"required": []string{"name"},
			},
		}},
	}, nil
}

func refuse(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func finish(r result) (*mcp.CallToolResult, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{StructuredContent: r, Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
}

func drop(ctx context.Context, req *mcp.CallToolRequest, in args, db *store.DB, s *sealer) (*mcp.CallToolResult, error) {
	if req.ProtocolVersion() < version {
		return refuse("this tool needs MCP " + version), nil
	}
	subject, err := subjectOf(req)
	if err != nil {
		return refuse(err.Error()), nil
	}
	table, err := db.Get(ctx, in.Table)
	if err != nil {
		return refuse(err.Error()), nil
	}
	if req.Params.RequestState == "" {
		if !canAskForms(req) {
			data := json.RawMessage(`{"requiredCapabilities":{"elicitation":{"form":{}}}}`)
			return nil, &jsonrpc.Error{Code: -32021, Message: "this tool asks with a form", Data: data}
		}
		return ask(s, subject, in, table)
	}
	st, err := s.open(req.Params.RequestState)
	if err != nil {
		return refuse(err.Error()), nil
	}
	switch {
	case st.Subject != subject:
		return refuse("this confirmation was given to somebody else"), nil
	case !time.Now().Before(st.Expires):
		return refuse("this confirmation has expired"), nil
	case st.Table != in.Table || st.TableID != table.ID:
		return refuse("this confirmation is for another table"), nil
	}
	answer, ok := req.Params.InputResponses[question].(*mcp.ElicitResult)
	if !ok {
		return ask(s, subject, in, table)
	}
	if answer.Action != "accept" {
		return finish(result{})
	}
	name, ok := answer.Content["name"].(string)
	if !ok {
		return ask(s, subject, in, table)
	}
	if name != in.Table {
		return finish(result{})
	}
	rows, err := db.Drop(ctx, in.Table, table.ID)
	if err != nil {
		return refuse(err.Error()), nil
	}
	return finish(result{Dropped: true, Rows: rows})
}

// end
