package capacity

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// TargetPrefix begins the header X-Amz-Target of requests to DynamoDB.
const TargetPrefix = "DynamoDB_20120810."

// request is a request to DynamoDB by the names of its fields.
type request map[string]json.RawMessage

// call is one request for a write.
type call struct {
	*Limiter
	request request
	// consumed holds the units of each table that were consumed before the write, and exhausted the tables of which
	// nothing was left.
	consumed  map[string]float64
	exhausted map[string]bool
	// places are those to which the request writes.
	places map[place]bool
	// unprocessed holds the writes of a batch that are not passed on.
	unprocessed map[string][]json.RawMessage
}

// Limit returns a handler that passes requests to DynamoDB on to next, as far as something is left of their tables.
func (l *Limiter) Limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), TargetPrefix)
		admit := map[string]func(*call) bool{
			"PutItem": (*call).admitSingle, "UpdateItem": (*call).admitSingle, "DeleteItem": (*call).admitSingle,
			"BatchWriteItem": (*call).admitBatch, "TransactWriteItems": (*call).admitTransaction,
		}[operation]
		if admit == nil {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		c := &call{Limiter: l, consumed: map[string]float64{}, exhausted: map[string]bool{}, places: map[place]bool{}}
		if json.Unmarshal(body, &c.request) != nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r) // it is the server that refuses it
			return
		}
		admitted := admit(c)
		for table := range c.exhausted {
			l.onThrottled(table, operation)
		}
		if !admitted {
			c.writeThrottled(w, operation)
			return
		}
		c.forward(w, r, next)
	})
}

// tableName returns the name of the table in a field of a request.
func tableName(field json.RawMessage) string {
	var name string
	_ = json.Unmarshal(field, &name) // the server refuses what is not a string
	return nameInARN(name)
}

// nameInARN returns the name of a table that is given by its name or its ARN.
func nameInARN(s string) string {
	if _, name, isARN := strings.Cut(s, ":table/"); isARN {
		return name
	}
	return s
}

// placeOf returns the place of an item, or of a key, in a table.
func (c *call) placeOf(table string, item json.RawMessage) place {
	t := c.tables[table]
	if t == nil || t.PartitionUnits == 0 {
		return place{table: table}
	}
	var attributes map[string]json.RawMessage
	_ = json.Unmarshal(item, &attributes) // the server refuses what is no item
	return place{table, string(attributes[t.PartitionKey])}
}

// consume consumes units of places, and records how many or which tables are exhausted. It returns false if any is.
func (c *call) consume(units map[place]float64) bool {
	exhausted := c.Limiter.consume(units)
	for _, table := range exhausted {
		c.exhausted[table] = true
	}
	if len(exhausted) > 0 {
		return false
	}
	for p, n := range units {
		c.consumed[p.table] += n
		c.places[p] = true
	}
	return true
}

// admitSingle consumes what one item needs at least.
func (c *call) admitSingle() bool {
	units, of := 1.0, c.request["Key"]
	if item, isPut := c.request["Item"]; isPut {
		units, of = unitsOf(item), item
	}
	return c.consume(map[place]float64{c.placeOf(tableName(c.request["TableName"]), of): units})
}

// admitBatch leaves in the request what can be written. It returns false if nothing can.
func (c *call) admitBatch() bool {
	var tables map[string][]json.RawMessage
	if json.Unmarshal(c.request["RequestItems"], &tables) != nil {
		return true // it is the server that refuses it
	}
	admitted := map[string][]json.RawMessage{}
	c.unprocessed = map[string][]json.RawMessage{}
	for table, writes := range tables {
		name := nameInARN(table)
		for _, write := range writes {
			var w struct {
				PutRequest    struct{ Item json.RawMessage }
				DeleteRequest struct{ Key json.RawMessage }
			}
			_ = json.Unmarshal(write, &w) // the server refuses what is neither a put nor a deletion
			into := admitted
			of := append(w.PutRequest.Item, w.DeleteRequest.Key...) // it has one of them
			if !c.consume(map[place]float64{c.placeOf(name, of): unitsOf(w.PutRequest.Item)}) {
				into = c.unprocessed
			}
			into[table] = append(into[table], write)
		}
	}
	if len(admitted) == 0 && len(c.unprocessed) > 0 {
		return false
	}
	c.request["RequestItems"], _ = json.Marshal(admitted)
	return true
}

// admitTransaction takes what all parts need, or nothing. A transaction writes each item twice: it prepares and
// commits.
func (c *call) admitTransaction() bool {
	units := map[place]float64{}
	for _, p := range c.transactPlaces() {
		units[p] += 2
	}
	return c.consume(units)
}

// transactPlaces returns the place of each part of a transaction.
func (c *call) transactPlaces() (places []place) {
	var parts []map[string]struct{ TableName, Item, Key json.RawMessage }
	_ = json.Unmarshal(c.request["TransactItems"], &parts) // the server refuses what cannot be read
	for _, part := range parts {
		for _, of := range part {
			places = append(places, c.placeOf(tableName(of.TableName), append(of.Item, of.Key...)))
		}
	}
	return places
}

// forward passes the request on, charges what it has consumed beyond the estimate, and sends the response.
func (c *call) forward(w http.ResponseWriter, r *http.Request, next http.Handler) {
	_, wanted := c.request["ReturnConsumedCapacity"]
	if !wanted {
		c.request["ReturnConsumedCapacity"] = json.RawMessage(`"INDEXES"`)
	}
	body, err := json.Marshal(c.request)
	if err != nil {
		return // cannot happen: all of it was JSON
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	text := answer.Body.Bytes()
	var response map[string]json.RawMessage
	if answer.Code == http.StatusOK && json.Unmarshal(text, &response) == nil {
		c.chargeRest(response["ConsumedCapacity"])
		if !wanted {
			delete(response, "ConsumedCapacity")
		}
		if len(c.unprocessed) > 0 {
			response["UnprocessedItems"], _ = json.Marshal(c.unprocessed)
		}
		text, _ = json.Marshal(response)
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.Header().Del("X-Amz-Crc32") // that of another text
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(text) // an error means that the client has disconnected
}

// consumed is what the server says of one table.
type consumed struct {
	TableName              string
	CapacityUnits          float64
	Table                  *units
	GlobalSecondaryIndexes map[string]units
	LocalSecondaryIndexes  map[string]units
}

// units is what was consumed of a table or an index.
type units struct{ CapacityUnits float64 }

// chargeRest consumes the difference between what the server reports and what was consumed before the write. Of a
// request that asks for the total alone, the total counts.
func (c *call) chargeRest(text json.RawMessage) {
	var all []consumed
	if json.Unmarshal(text, &all) != nil {
		var one consumed
		if json.Unmarshal(text, &one) != nil {
			return
		}
		all = []consumed{one}
	}
	for _, t := range all {
		ofTable := t.CapacityUnits
		if t.Table != nil {
			ofTable = t.Table.CapacityUnits
		}
		rest := ofTable - c.consumed[t.TableName]
		c.charge(t.TableName, "", rest)
		if len(c.places) == 1 { // otherwise nobody says how much of each was consumed
			for p := range c.places {
				c.chargePartition(p, rest)
			}
		}
		for index, used := range t.GlobalSecondaryIndexes {
			c.charge(t.TableName, index, used.CapacityUnits)
		}
	}
}

// The messages of DynamoDB for a table of which nothing is left.
const (
	onDemandMessage = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically " +
		"scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key."
	provisionedMessage = "The level of configured provisioned throughput for the table was exceeded. Consider " +
		"increasing your provisioning level with the UpdateTable API."
)

// reason is why one part of a transaction was canceled.
type reason struct {
	Code    string
	Message string `json:",omitempty"`
}

// writeThrottled sends the error of a request of which nothing is written: for a transaction the reasons of its parts,
// as in the API reference of TransactionCanceledException.
func (c *call) writeThrottled(w http.ResponseWriter, operation string) {
	errorType, message := "ThrottlingException", onDemandMessage
	for table := range c.exhausted {
		if c.isProvisioned(table) {
			errorType, message = "ProvisionedThroughputExceededException", provisionedMessage
		}
	}
	body := map[string]any{}
	if operation == "TransactWriteItems" {
		var reasons []reason
		var codes []string
		for _, p := range c.transactPlaces() {
			table, why := p.table, reason{Code: "None"}
			switch {
			case c.exhausted[table] && c.isProvisioned(table):
				why = reason{"ProvisionedThroughputExceeded", provisionedMessage}
			case c.exhausted[table]:
				why = reason{"ThrottlingError", onDemandMessage}
			}
			reasons, codes = append(reasons, why), append(codes, why.Code)
		}
		errorType, body["CancellationReasons"] = "TransactionCanceledException", reasons
		message = "Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]"
	}
	// Clients look for the message under either name.
	body["__type"], body["message"], body["Message"] = "com.amazonaws.dynamodb.v20120810#"+errorType, message, message
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(body)
}
