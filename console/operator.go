package console

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Operator reads what only operators of the cloud may: each list as 'sluice admin' prints it. A list has no secrets.
type Operator interface {
	// Tenants returns all tenants.
	Tenants(ctx context.Context) (any, error)
	// Clients returns the clients of all tenants.
	Clients(ctx context.Context) (any, error)
	// Keys returns the keys that sign access tokens.
	Keys(ctx context.Context) (any, error)
	// ReceiptKeys returns the keys that sign receipts.
	ReceiptKeys(ctx context.Context) (any, error)
}

// operatorPause is how long a list is shown before it is read again. Each reading is recorded in the audit trail.
const operatorPause = time.Minute

// operatorLists answers requests for lists of the operator.
type operatorLists struct {
	operator Operator
	now      func() time.Time

	mu sync.Mutex
	// read are the lists by their names.
	read map[string]operatorList
}

// operatorList is an answer and when it was read.
type operatorList struct {
	at    time.Time
	value any
}

// register adds the paths of the lists.
func (o *operatorLists) register(mux *http.ServeMux) {
	for name, read := range map[string]func(context.Context) (any, error){
		"tenants": func(ctx context.Context) (any, error) { return listed(ctx, "tenants", o.operator.Tenants) },
		"clients": func(ctx context.Context) (any, error) { return listed(ctx, "clients", o.operator.Clients) },
		"keys": func(ctx context.Context) (any, error) {
			tokens, err := o.operator.Keys(ctx)
			if err != nil {
				return nil, err
			}
			receipts, err := o.operator.ReceiptKeys(ctx)
			return map[string]any{"access_tokens": tokens, "receipts": receipts}, err
		},
	} {
		mux.HandleFunc("GET /console/operator/"+name, func(w http.ResponseWriter, r *http.Request) {
			value, err := o.get(r.Context(), name, read)
			if err == nil {
				writeJSON(w, http.StatusOK, value)
			} else if r.Context().Err() == nil {
				writeProblem(w, problem{Status: http.StatusBadGateway, Title: "The cloud refuses the request",
					Detail: err.Error(), ErrorCode: "operator_failed"})
			}
		})
	}
}

// listed returns a list as the only member of an object.
func listed(ctx context.Context, name string, read func(context.Context) (any, error)) (any, error) {
	value, err := read(ctx)
	return map[string]any{name: value}, err
}

// get returns a list that is at most operatorPause old. One list is read at a time.
func (o *operatorLists) get(ctx context.Context, name string, read func(context.Context) (any, error)) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if last, ok := o.read[name]; ok && o.now().Sub(last.at) < operatorPause {
		return last.value, nil
	}
	value, err := read(ctx)
	if err != nil {
		return nil, err
	}
	o.read[name] = operatorList{o.now(), value}
	return value, nil
}

// refuseOperator answers where the command has no credentials of the cloud.
func refuseOperator(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, problem{Status: http.StatusForbidden, Title: "This is for operators of the cloud",
		Detail:    "Start the console with --operator, with credentials of the cloud, to see it.",
		ErrorCode: "not_operator"})
}
