package endpoint

import (
	"encoding/json"
	"net/http"
	"strings"

	"sluice/local/policy"
)

// single are the actions that the parts of a transaction need; a batch needs the right to the batch itself.
var single = map[string]string{
	"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem", "Get": "GetItem",
}

// tables says what a request to DynamoDB asks for. A body can have 16 MB: no more of it is looked at than its tables need.
func (s Services) tables(_ *http.Request, operation string, body []byte) []policy.Request {
	var out []policy.Request
	var table, index string
	members(body, func(name string, value []byte) {
		switch name {
		case "TableName":
			table = text(value)
		case "IndexName":
			index = text(value)
		case "RequestItems":
			members(value, func(table string, items []byte) {
				out = append(out, s.table(operation, table, "", items))
			})
		case "TransactItems":
			elements(value, func(item []byte) {
				members(item, func(kind string, part []byte) { out = append(out, s.part(kind, part)) })
			})
		}
	})
	if table != "" {
		out = append(out, s.table(operation, table, index, body))
	}
	if out == nil {
		out = []policy.Request{{Action: "dynamodb:" + operation, Resource: "*"}}
	}
	return out
}

func (s Services) part(kind string, part []byte) policy.Request {
	var table string
	members(part, func(name string, value []byte) {
		if name == "TableName" {
			table = text(value)
		}
	})
	return s.table(single[kind], table, "", part)
}

// table is a request for a table or one of its indexes. What is done to it is looked into only where a condition asks for it.
func (s Services) table(operation, name, index string, what []byte) policy.Request {
	if _, after, isARN := strings.Cut(name, ":table/"); isARN {
		name = after
	}
	resource := "table/" + name
	if index != "" {
		resource += "/index/" + index
	}
	return policy.Request{Action: "dynamodb:" + operation, Resource: s.ARN("dynamodb", resource), Value: func(key string) []string {
		if key != "dynamodb:leadingkeys" {
			return nil
		}
		return leading(what, s.PartitionKeys[name])
	}}
}

// leading finds the partition keys of all items that a request names. A request that names none, such as a query, gets one
// that no policy can mean: what its expressions select is not worked out here.
func leading(what []byte, attribute string) []string {
	var out []string
	var look func(value []byte)
	look = func(value []byte) {
		elements(value, look)
		members(value, func(name string, value []byte) {
			switch name {
			case "Key", "Item":
				members(value, func(name string, value []byte) {
					if name == attribute {
						members(value, func(_ string, value []byte) { out = append(out, text(value)) })
					}
				})
			case "Keys":
				elements(value, func(key []byte) { look(append(append([]byte(`{"Key":`), key...), '}')) })
			case "PutRequest", "DeleteRequest":
				look(value)
			}
		})
	}
	look(what)
	if out == nil {
		return []string{""}
	}
	return out
}

func text(value []byte) string {
	var s string
	_ = json.Unmarshal(value, &s) // what is no text names nothing
	return s
}
