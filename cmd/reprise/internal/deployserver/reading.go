// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deployserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
	"github.com/reprise-mcp/reprise/wire"
)

const (
	logScheme   = "release://"
	logTemplate = logScheme + "{environment}/{service}/log"
)

// addReading registers what is read and not done: it asks as well.
func addReading(adapter *gosdk.Adapter, releases *deploy.Engine) error {
	r := reader{releases}
	err := gosdk.AddPrompt(adapter, &mcp.Prompt{
		Name: "release_notes", Title: "Release notes",
		Description: "Write notes about a release for readers that the user is asked for.",
		Arguments: []*mcp.PromptArgument{
			{Name: "service", Description: "the service", Required: true},
			{Name: "environment", Description: "the environment", Required: true},
			{Name: "version", Description: "the release; the newest one if it is left out"},
		},
	}, reprise.Options{Reusable: true, Asks: confirmations}, r.notes)
	if err != nil {
		return err
	}
	return gosdk.AddResourceTemplate(adapter, &mcp.ResourceTemplate{
		Name: "release_log", Title: "Deployment log", URITemplate: logTemplate, MIMEType: "application/json",
		Description: "Who deployed what and when. The user is asked for a reason, which goes into the audit record.",
	}, reprise.Options{Asks: confirmations}, r.log)
}

type reader struct{ releases *deploy.Engine }

type audience struct {
	Audience string `json:"audience" title:"Audience" enum:"operators=People who run the service,developers=People who build on it,customers=People who use it"`
}

var audienceForm = elicitation.MustForm[audience]()

// notes asks for whom, and gives the model what it needs for them.
func (r reader) notes(ctx context.Context, call *reprise.Call, in map[string]string) (*mcp.GetPromptResult, error) {
	service, environment := in["service"], in["environment"]
	current, target, err := r.releases.Resolve(ctx, service, environment, in["version"])
	if err != nil {
		return nil, invalid(err)
	}
	answer, err := reprise.Ask(ctx, call, "audience", audienceForm, fmt.Sprintf("For whom are the notes about %s %s?", service, target), service, target)
	if err != nil {
		return nil, err
	}
	chosen, ok := answer.Accepted()
	if !ok {
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "nobody said for whom the notes are; ask for the prompt again once the user knows"}
	}
	text := fmt.Sprintf("Write release notes about %s %s for %s. ", service, target, chosen.Audience)
	switch current {
	case "", target:
		text += "Say what it does."
	default:
		text += fmt.Sprintf("In %s it is to take the place of %s: say what changes.", environment, current)
	}
	return &mcp.GetPromptResult{
		Description: fmt.Sprintf("Notes about %s %s for %s", service, target, chosen.Audience),
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}

type access struct {
	Reason string `json:"reason" title:"Reason" description:"It goes into the audit record." minLength:"10" maxLength:"500"`
}

var accessForm = elicitation.MustForm[access]()

// log breaks the glass: whoever reads it says why, each time.
func (r reader) log(ctx context.Context, call *reprise.Call, uri string) (*mcp.ReadResourceResult, error) {
	environment, service, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(uri, logScheme), "/log"), "/")
	if _, err := r.releases.Status(service, environment); err != nil {
		return nil, invalid(err)
	}
	answer, err := reprise.Ask(ctx, call, "reason", accessForm, fmt.Sprintf("Why do you need the deployment log of %s in %s?", service, environment), service, environment)
	if err != nil {
		return nil, err
	}
	given, ok := answer.Accepted()
	if !ok {
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "the log is read with a reason only, and none was given"}
	}
	approval, _ := answer.Approve(func(access) bool { return true })
	return reprise.Do(ctx, call, approval, func(ctx context.Context) (*mcp.ReadResourceResult, error) {
		call.Audit(slog.String("reason", given.Reason))
		deployments, err := r.releases.History(ctx, service, environment)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(deployments)
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(text)}}}, nil
	})
}

// invalid is for arguments that name nothing.
func invalid(err error) error {
	return &wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()}
}
