package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"sluice/client"
)

// Values of problem.ErrorCode of requests that the service has not answered, or has refused.
const (
	// codeUnreachable means that the service, or its storage, does not answer.
	codeUnreachable = "service_unreachable"
	// codeCredentials means that the token endpoint refuses the credentials of the command.
	codeCredentials = "credentials_refused"
	// codeStorage means that the storage of the service refuses a signed address.
	codeStorage = "storage_refused"
)

// explainFailure returns the answer to a request for which a call of the service has failed. What the service refuses
// has the status that it gave. The answer shows no token and no signed address.
func explainFailure(err error) problem {
	var refused *client.Error
	var refusedToken *client.TokenError
	var storage *client.StorageError
	var unreachable *client.UnreachableError
	p := problem{Status: http.StatusBadGateway, Title: "The service does not answer", ErrorCode: codeUnreachable}
	switch {
	case errors.As(err, &refused):
		text := strings.TrimPrefix(err.Error(), "the service answers ")
		p = problem{Status: refused.Status, Detail: cmp.Or(refused.Message, text), ErrorCode: refused.Code,
			RequestID: refused.RequestID}
		if refused.Foreign || refused.Status < http.StatusBadRequest || refused.Status == http.StatusUnauthorized {
			p.Status, p.Title, p.ErrorCode = http.StatusBadGateway, "The service gives a "+
				"strange answer", codeUnreachable
			p.Detail = err.Error()
		}
	case errors.As(err, &refusedToken):
		p.Detail = refusedToken.Error()
		if refusedToken.Status >= 400 && refusedToken.Status < 500 {
			p.Title, p.ErrorCode = "The service refuses the credentials of the console", codeCredentials
		}
	case errors.As(err, &storage):
		p.Title, p.Detail, p.ErrorCode = "The storage of the service refuses the request", storage.Error(), codeStorage
	case errors.As(err, &unreachable):
		p.Detail = unreachable.Error()
	case errors.Is(err, context.DeadlineExceeded):
		p.Detail = "It took too long."
	default:
		p.Detail = "The connection to it failed: " + err.Error()
	}
	return p
}

// fail answers a request for which a call of the service has failed. A browser that has gone gets no answer.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	p := explainFailure(err)
	s.refuse(w, r, &p)
}
