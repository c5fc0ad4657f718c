package httpapi

import (
	"net/http"

	"sluice/shared/kit/fault"
)

// CorrelationHeader is the header by which a client gives its requests an ID of its own. It is logged and sent back.
const CorrelationHeader = "X-Correlation-Id"

// maxCorrelationBytes is the size of the longest correlation ID.
const maxCorrelationBytes = 128

var errCorrelationTooLong = fault.Newf(fault.BadRequest, "correlation_id_too_long",
	"The header X-CORRELATION-ID has more than %d bytes.", maxCorrelationBytes)

// correlate sends the correlation ID of a request back and logs it. An ID that is too long is left to answer to refuse.
func (a API) correlate(w http.ResponseWriter, r *http.Request) {
	if id := r.Header.Get(CorrelationHeader); id != "" && len(id) <= maxCorrelationBytes {
		w.Header().Set(CorrelationHeader, id)
		a.Log.InfoContext(r.Context(), "correlated", "correlation_id", id)
	}
}
