package endpoint

import (
	"encoding/json"
	"net/http"
)

// refuse answers as the JSON protocols of AWS do. All spell the type twice and the message in one of two ways: clients look for any.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-ErrorType", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": kind, "Message": message, "message": message})
}
