// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deployserver

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

type deployArgs struct {
	Service     string `json:"service" jsonschema:"the service to deploy"`
	Environment string `json:"environment" jsonschema:"where to deploy it"`
	Version     string `json:"version,omitempty" jsonschema:"the release; the newest one if it is left out"`
}

type deployResult struct {
	Deployed    bool   `json:"deployed" jsonschema:"whether this call put the release in place"`
	Service     string `json:"service"`
	Environment string `json:"environment"`
	From        string `json:"from,omitempty" jsonschema:"the release that ran when the question was asked"`
	To          string `json:"to" jsonschema:"the release that the call was about"`
	Outcome     string `json:"outcome" jsonschema:"what the client reported: approved, rejected, declined or cancelled; unchanged if the release ran already"`
	Number      uint64 `json:"number,omitempty" jsonschema:"number of the deployment in the history"`
}

type serviceArgs struct {
	Service     string `json:"service" jsonschema:"the service"`
	Environment string `json:"environment" jsonschema:"the environment"`
}

type releasesResult struct {
	Running  string   `json:"running,omitempty" jsonschema:"the release that runs; absent if none does"`
	Releases []string `json:"releases" jsonschema:"the releases that there are, newest first"`
}

type statusResult struct {
	Running string             `json:"running,omitempty" jsonschema:"the release that runs; absent if none does"`
	Last    *deploy.Deployment `json:"last,omitempty" jsonschema:"the deployment that made it run"`
}

// addTools registers the tools. Only deploy_release asks; the two others touch no state and no store.
func addTools(server *mcp.Server, adapter *gosdk.Adapter, releases *deploy.Engine) error {
	yes, no := true, false
	mcp.AddTool(server, &mcp.Tool{
		Name: "list_releases", Description: "List the releases of a service and say which one runs.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, func(_ context.Context, _ *mcp.CallToolRequest, in serviceArgs) (*mcp.CallToolResult, releasesResult, error) {
		names, err := releases.Releases(in.Service, in.Environment)
		if err != nil {
			return nil, releasesResult{}, err
		}
		status, err := releases.Status(in.Service, in.Environment)
		return nil, releasesResult{Running: status.Running, Releases: names}, err
	})
	mcp.AddTool(server, &mcp.Tool{
		Name: "release_status", Description: "Say which release of a service runs and who deployed it when.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	}, func(_ context.Context, _ *mcp.CallToolRequest, in serviceArgs) (*mcp.CallToolResult, statusResult, error) {
		status, err := releases.Status(in.Service, in.Environment)
		return nil, statusResult{Running: status.Running, Last: status.Last}, err
	})
	return gosdk.AddTool(adapter, &mcp.Tool{
		Name: "deploy_release",
		Description: "Deploy a release of a service, replacing the running one. A human is asked first. " +
			"If the outcome is declined, cancelled or rejected, do not call again unless the user says so.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no},
	}, reprise.Options{Asks: confirmations, Record: true, Status: "release_status"}, deployer{releases}.deploy)
}

type deployer struct{ releases *deploy.Engine }

func (d deployer) deploy(ctx context.Context, call *reprise.Call, in deployArgs) (deployResult, error) {
	current, target, err := d.releases.Resolve(ctx, in.Service, in.Environment, in.Version)
	if err != nil {
		return deployResult{}, err
	}
	result := deployResult{Service: in.Service, Environment: in.Environment, From: current, To: target}
	if current == target {
		result.Outcome = "unchanged"
		return result, nil
	}
	decision, err := reprise.Confirm(ctx, call, "confirm", question(in, current, target), in.Service, in.Environment, current, target)
	if err != nil {
		return deployResult{}, err
	}
	result.Outcome = decision.String()
	approval, yes := decision.Approved()
	if !yes {
		return result, nil
	}
	return reprise.Do(ctx, call, approval, func(ctx context.Context) (deployResult, error) {
		done, err := d.releases.Swap(ctx, deploy.Change{
			Service: in.Service, Environment: in.Environment, From: current, To: target, By: call.Principal().String(),
		})
		if err != nil {
			return deployResult{}, err
		}
		result.Deployed, result.Number = true, done.Number
		return result, nil
	})
}

func question(in deployArgs, current, target string) string {
	if current == "" {
		return fmt.Sprintf("Deploy %s %s to %s, where nothing runs yet?", in.Service, target, in.Environment)
	}
	return fmt.Sprintf("Deploy %s %s to %s, replacing %s?", in.Service, target, in.Environment, current)
}
