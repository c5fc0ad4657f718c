package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"sluice/shared/fault"
	"sluice/shared/httpapi"
)

// maxAttempted is how many characters of a refused text are sent back.
const maxAttempted = 256

// keep reads the body of a request and puts it back, so that a refusal can show what was sent.
func keep(r *http.Request) ([]byte, error) {
	text, err := httpapi.Body(r)
	if err == nil {
		r.Body = io.NopCloser(bytes.NewReader(text))
	}
	return text, err
}

// attempted adds to a refusal what was sent in the places that it names: texts (the beginning of long ones), numbers and
// booleans. Places with a list or an object, or with nothing, stay null.
func attempted(err error, r *http.Request, body []byte) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Details) == 0 {
		return err
	}
	var whole any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if !json.Valid(body) || decoder.Decode(&whole) != nil {
		whole = nil // no JSON: there is no place in it
	}
	c := *e
	c.Details = make([]fault.Detail, len(e.Details))
	for i, d := range e.Details {
		d.Sent = sent(d.Loc, r, whole)
		c.Details[i] = d
	}
	return &c
}

// sent finds a place in the body, in the data of the body, or else among the parameters.
func sent(loc []any, r *http.Request, whole any) any {
	if len(loc) > 0 && loc[0] == "body" {
		return scalar(at(whole, loc[1:]))
	}
	if envelope, ok := whole.(map[string]any); ok {
		if v := at(envelope["data"], loc); v != nil {
			return scalar(v)
		}
	}
	if name, ok := loc[0].(string); ok && len(loc) == 1 {
		for _, v := range []string{r.PathValue(name), r.URL.Query().Get(name)} {
			if v != "" {
				return scalar(v)
			}
		}
	}
	if list, ok := whole.([]any); ok && len(loc) > 1 { // a body without envelope, by the name that the reply gives it
		return scalar(at(list, loc[1:]))
	}
	return scalar(whole)
}

func at(v any, loc []any) any {
	for _, step := range loc {
		switch parent := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = parent[name]
		case []any:
			i, isNumber := step.(int)
			if text, ok := step.(string); ok {
				var err error
				i, err = strconv.Atoi(text)
				isNumber = err == nil
			}
			if !isNumber || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

func scalar(v any) any {
	switch v := v.(type) {
	case string:
		if utf8.RuneCountInString(v) > maxAttempted {
			return string([]rune(v)[:maxAttempted])
		}
		return v
	case json.Number, bool:
		return v
	}
	return nil
}
