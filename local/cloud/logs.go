package cloud

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// ServeHTTP serves what the admin commands need of CloudWatch Logs: an event of any stream becomes a line of the log,
// and a record of the audit trail as if a function had printed it. The operator alone may call it.
func (l *functionLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	switch operation {
	case "CreateLogStream": // streams are not kept apart
	case "PutLogEvents":
		var in struct {
			LogEvents []struct{ Message string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"SerializationException"}`)
			return
		}
		for _, e := range in.LogEvents {
			l.WriteLine("admin", "", []byte(strings.ReplaceAll(e.Message, "\n", " ")))
		}
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"UnknownOperationException"}`)
		return
	}
	fmt.Fprint(w, "{}")
}
