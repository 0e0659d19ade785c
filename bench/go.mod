module github.com/reprise-mcp/reprise/bench

go 1.26.0

require github.com/reprise-mcp/reprise v0.1.0

require (
	aidanwoods.dev/go-paseto v1.6.0
	github.com/go-jose/go-jose/v4 v4.1.9
	github.com/golang-jwt/jwt/v5 v5.3.1
	github.com/gorilla/securecookie v1.1.2
)

require (
	aidanwoods.dev/go-result v0.3.1 // indirect
	golang.org/x/crypto v0.46.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
)
