package authhttp

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"sluice/shared/kit/fault"
)

// credentials prove the identity of a client.
type credentials struct {
	clientID, secret string
	// isBasic reports that they came by HTTP Basic and not in the form.
	isBasic bool
}

// challenge returns the header of the refusal of the credentials: those of HTTP Basic are asked for again (RFC 6749,
// section 5.2).
func (c credentials) challenge() http.Header {
	if !c.isBasic {
		return nil
	}
	return http.Header{"Www-Authenticate": {`Basic realm="sluice"`}}
}

// readCredentials reads a client's credentials from the Authorization header (client_secret_basic) or from the form
// (client_secret_post), and never from both: RFC 6749, section 2.3, allows one method for each request. The form may
// repeat the ID of the header.
func readCredentials(r *http.Request, form url.Values) (credentials, error) {
	c := credentials{clientID: form.Get("client_id"), secret: form.Get("client_secret")}
	header, ok, err := basicHeader(r)
	if err != nil || !ok {
		return c, err
	}
	if c.secret != "" || c.clientID != "" && c.clientID != header.clientID {
		return header, fault.New(fault.BadRequest, "invalid_request",
			"The credentials are given twice: by HTTP Basic and in the form. Use one of the two.")
	}
	return header, nil
}

// basicHeader returns the credentials of the Authorization header, false if there are none. Another scheme than Basic
// is ignored.
func basicHeader(r *http.Request) (credentials, bool, error) {
	for _, value := range r.Header.Values("Authorization") {
		scheme, encoded, _ := strings.Cut(strings.TrimSpace(value), " ")
		if !strings.EqualFold(scheme, "Basic") {
			continue
		}
		c := credentials{isBasic: true}
		text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		id, secret, found := strings.Cut(string(text), ":")
		if err == nil {
			c.clientID, err = url.QueryUnescape(id) // RFC 6749, section 2.3.1
		}
		if err == nil {
			c.secret, err = url.QueryUnescape(secret)
		}
		if err != nil || !found || len(r.Header.Values("Authorization")) > 1 {
			return c, true, fault.New(fault.BadRequest, "invalid_request",
				"The Authorization header must be Basic and the base64 of client_id:client_secret, given once.")
		}
		return c, true, nil
	}
	return credentials{}, false, nil
}
