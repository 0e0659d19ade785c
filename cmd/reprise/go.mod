module github.com/reprise-mcp/reprise/cmd/reprise

go 1.26.0

require (
	github.com/reprise-mcp/reprise v0.1.0
	github.com/reprise-mcp/reprise/ledger/sqlledger v0.1.0
	github.com/reprise-mcp/reprise/sdk/gosdk v0.1.0
)

require github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
