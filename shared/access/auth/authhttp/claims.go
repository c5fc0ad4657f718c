package authhttp

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// tokenClaims are the claims of a token that the audit trail names.
type tokenClaims struct {
	Client  string `json:"client_id"`
	Scope   string `json:"scope"`
	TokenID string `json:"jti"`
}

// unverifiedClaims returns the claims of a token without verification; zero if they cannot be read.
func unverifiedClaims(token string) tokenClaims {
	var c tokenClaims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &c) != nil {
		return tokenClaims{}
	}
	return c
}

func (c tokenClaims) tenant() string { return claimedTenant(c.Scope) }

// claimedTenant returns the tenant that a scope names, "" if it names none.
func claimedTenant(scope string) string {
	tenant, _ := strings.CutPrefix(scope, "tenant/")
	if tenant == scope {
		return ""
	}
	return tenant
}
