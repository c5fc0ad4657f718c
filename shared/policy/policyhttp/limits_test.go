package policyhttp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
	"sluice/shared/policy/policyhttp"
)

// list returns a JSON list of n different items; each is made of a number.
func list(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func quoted(n int) string { return `"` + strings.Repeat("é", n) + `"` }

func numbered(i int) string { return fmt.Sprintf(`"%d"`, i) }

// fieldWith returns the data of a field with another value of one member.
func fieldWith(member, value string) string {
	members := map[string]json.RawMessage{"name": []byte(`"n"`), "dataKey": []byte(`"k"`),
		"fieldType":  []byte(`"TextBox"`),
		"categories": []byte(`["Basic"]`)}
	members[member] = []byte(value)
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// operands returns operands that are nested n deep.
func operands(n int) string {
	text := `{"fieldName":"a","operation":"isEmpty"}`
	for range n - 1 {
		text = `{"operands":[` + text + `]}`
	}
	return `[{"operands":[` + text + `]}]`
}

// Each limit of a field admits n and refuses n + 1, with the property and a code.
func TestLimitsOfFields(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := commands + "/" + a.newPolicy() + "/fields?workspaceId=w"
	uuids := func(int) string { return `"` + uuid.NewString() + `"` }
	for _, tt := range []struct {
		member, property string
		limit            int
		value            func(n int) string
		validator        string
	}{
		{"name", "name", 700, quoted, "MaximumLengthValidator"},
		{"dataKey", "dataKey", 700, quoted, "MaximumLengthValidator"},
		{"description", "description", 1200, quoted, "MaximumLengthValidator"},
		{"defaultValue", "defaultValue", 500, quoted, "MaximumLengthValidator"},
		{"fieldType", "fieldType", 255, quoted, "MaximumLengthValidator"},
		{"classification", "classification", 255, quoted, "MaximumLengthValidator"},
		{"categories", "categories.0", 250, func(n int) string { return "[" + quoted(n) + "]" },
			"MaximumLengthValidator"},
		{"categories", "categories", 100, func(n int) string { return list(n, numbered) }, "MaximumCountValidator"},
		{"tags", "tags", 100, func(n int) string { return list(n, numbered) }, "MaximumCountValidator"},
		{"references", "references", 100, func(n int) string {
			return list(n, func(int) string { return `{"type":"Law"}` })
		}, "MaximumCountValidator"},
		{"jurisdictionIds", "jurisdictionIds", 500, func(n int) string { return list(n, uuids) },
			"MaximumCountValidator"},
		{"conditions", "conditions", 100, func(n int) string {
			return list(n, func(int) string { return `{"logicalOperation":"AND"}` })
		}, "MaximumCountValidator"},
		{"conditions", "conditions.0" + strings.Repeat(".operands.0", 8) + ".operands", 8, operands, "PolicyValidator"},
		{"conditions", "conditions.0.operands", 200, func(n int) string {
			return `[{"operands":` + list(n, func(int) string { return `{"operation":"isEmpty"}` }) + `}]`
		}, "MaximumCountValidator"},
		{"conditions", "conditions.0.operands.0.value", 500, func(n int) string {
			return `[{"operands":[{"operation":"equal","value":` + list(n, numbered) + `}]}]`
		}, "MaximumCountValidator"},
		{"conditions", "conditions.0.operands.0.value.0", 2000, func(n int) string {
			return `[{"operands":[{"operation":"equal","value":["` + strings.Repeat("é", n) + `"]}]}]`
		}, "MaximumLengthValidator"},
		{"conditions", "conditions.0.operands.0.fieldName", 700, func(n int) string {
			return `[{"operands":[{"operation":"isEmpty","fieldName":"` + strings.Repeat("é", n) + `"}]}]`
		}, "MaximumLengthValidator"},
		{"conditions", "conditions.0.id", 255, func(n int) string {
			return `[{"id":"` + strings.Repeat("x", n) + `"}]`
		}, "MaximumLengthValidator"},
		{"validationRules", "validationRules.mandatory.staticRule.errorMessage", 1200, func(n int) string {
			return `{"mandatory":{"isActive":true,"staticRule":{"errorMessage":` + quoted(n) + `}}}`
		}, "MaximumLengthValidator"},
	} {
		t.Run(fmt.Sprint(tt.property, " ", tt.limit), func(t *testing.T) {
			a := a.in(t)
			for _, n := range []int{tt.limit - 1, tt.limit} {
				a.succeed("POST", path, fieldWith(tt.member, tt.value(n)), nil)
			}
			a.refuseProperty(tt.property, tt.validator, "POST", path, fieldWith(tt.member, tt.value(tt.limit+1)))
		})
	}
}

// Members of a field that are wrong are refused by name.
func TestWrongFields(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := commands + "/" + a.newPolicy() + "/fields?workspaceId=w"
	for _, tt := range []struct{ member, value, property, validator string }{
		{"name", `""`, "name", "NotNullValidator"},
		{"name", `null`, "name", "NotNullValidator"},
		{"name", `1`, "name", "string_type"},
		{"dataKey", `""`, "dataKey", "NotNullValidator"},
		{"fieldType", `null`, "fieldType", "NotNullValidator"},
		{"fieldType", `"Collection"`, "fieldTypeId", "NotNullValidator"},
		{"fieldType", `"Custom"`, "fieldTypeId", "NotNullValidator"},
		{"categories", `[]`, "categories", "NotNullValidator"},
		{"categories", `null`, "categories", "NotNullValidator"},
		{"categories", `[""]`, "categories.0", "NotNullValidator"},
		{"categories", `["a","a"]`, "categories", "UniqueValidator"},
		{"targetEntities", `["client"]`, "targetEntities.0", "EnumValidator"},
		{"jurisdictionIds", `["x"]`, "jurisdictionIds.0", "GuidValidator"},
		{"fieldId", `"x"`, "fieldId", "GuidValidator"},
		{"fieldVersion", `2`, "fieldVersion", "extra_forbidden"},
		{"changeType", `"Added"`, "changeType", "extra_forbidden"},
		{"Name", `"n"`, "Name", "extra_forbidden"},
		{"order", `"1"`, "order", "number_type"},
		{"references", `[{"url":"javascript:alert(1)"}]`, "references.0.url", "UrlValidator"},
		{"references", `[{"url":"/relative"}]`, "references.0.url", "UrlValidator"},
		{"references", `[{}]`, "references.0", "NotNullValidator"},
		{"conditions", `[{"operands":[{"operation":"like"}]}]`, "conditions.0.operands.0.operation", "EnumValidator"},
		{"conditions", `[{"logicalOperation":"XOR"}]`, "conditions.0.logicalOperation", "EnumValidator"},
		{"conditions", `[{"id":"a"},{"id":"a"}]`, "conditions", "UniqueValidator"},
		{"conditions", `[null]`, "conditions.0", "NotNullValidator"},
		{"conditionalValues", `[{"id":"a","priority":1.5}]`, "conditionalValues.0.priority", "integer_type"},
		{"validationRules", `{"mandatory":{"isActive":"yes"}}`, "validationRules.mandatory.isActive", "bool_type"},
		{"validationRules", `{"colour":{}}`, "validationRules.colour", "extra_forbidden"},
		{"validationRules", `{"characterLimit":{"staticRule":{"limit":-1}}}`,
			"validationRules.characterLimit.staticRule.limit", "InclusiveBetweenValidator"},
		{"validationRules", `{"regex":{"staticRule":{"regexValue":"(?=x)"}}}`,
			"validationRules.regex.staticRule.regexValue", "RegularExpressionValidator"},
		{"validationRules", `{"regex":{"dynamicRules":[{"value":{"regexValue":"("}}]}}`,
			"validationRules.regex.dynamicRules.0.value.regexValue", "RegularExpressionValidator"},
		{"formulaSchema", `{"formulaString":"{a} +"}`, "formulaSchema.formulaString", "FormulaValidator"},
		{"formulaSchema", `{}`, "formulaSchema.formulaString", "NotNullValidator"},
	} {
		t.Run(tt.member+" "+tt.value, func(t *testing.T) {
			a := a.in(t)
			a.refuseProperty(tt.property, tt.validator, "POST", path, fieldWith(tt.member, tt.value))
		})
	}
}

// Requests of commands and queries have limits, too.
func TestLimitsOfRequests(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	id := a.newPolicy()
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct{ method, path, data, property, validator string }{
		{"POST", commands, `{"workspaceId":"w"}`, "entityType", "NotNullValidator"},
		{"POST", commands, `{"entityType":"company","workspaceId":"w"}`, "entityType", "EnumValidator"},
		{"POST", commands, `{"entityType":"Company"}`, "workspaceId", "NotNullValidator"},
		{"POST", commands, `{"entityType":"Company","workspaceId":"` + long(256) + `"}`, "workspaceId",
			"MaximumLengthValidator"},
		{"POST", commands, `{"entityType":"Company","workspaceId":"w","versionNote":"` + long(2001) + `"}`,
			"versionNote",
			"MaximumLengthValidator"},
		{"POST", commands + "/" + id + "/versions/draft-from-version", `{"workspaceId":"v"}`, "sourceVersionNumber",
			"InclusiveBetweenValidator"},
		{"POST", commands + "/" + id + "/versions/draft-from-version", `{"workspaceId":"v","sourceVersionNumber":1}`,
			"sourceVersionNumber", "VersionValidator"},
		{"PUT", commands + "/" + id + "/publish", "", "workspaceId", "NotNullValidator"},
		{"PUT", commands + "/" + id + "/publish?workspaceId=" + long(256), "", "workspaceId", "MaximumLengthValidator"},
		{"PUT", commands + "/" + id + "/publish?workspaceid=w", "", "workspaceId", "NotNullValidator"},
		{"PUT", commands + "/" + id + "/version/0/archive", "", "versionNumber", "InclusiveBetweenValidator"},
		{"PUT", commands + "/" + id + "/version/x/archive", "", "versionNumber", "InclusiveBetweenValidator"},
		{"PUT", commands + "/" + id + "/version/01/archive", "", "versionNumber", "InclusiveBetweenValidator"},
		{"PUT", commands + "/" + id + "/version/1/archive", `{"archiveReason":"` + long(2001) + `"}`, "archiveReason",
			"MaximumLengthValidator"},
		{"GET", queries + "?PageSize=0", "", "PageSize", "InclusiveBetweenValidator"},
		{"GET", queries + "?PageSize=101", "", "PageSize", "InclusiveBetweenValidator"},
		{"GET", queries + "?PageSize=x", "", "PageSize", "InclusiveBetweenValidator"},
		{"GET", queries + "?PaginationToken=", "", "PaginationToken", "PaginationTokenValidator"},
		{"GET", queries + "?PaginationToken=x", "", "PaginationToken", "PaginationTokenValidator"},
		{"GET", queries + "/" + id + "/jurisdictions?workspaceId=w&PageSize=201", "", "PageSize",
			"InclusiveBetweenValidator"},
		{"GET", queries + "/" + id + "/versions/0", "", "versionNumber", "InclusiveBetweenValidator"},
		{"GET", queries + "/fields/company/indexable", "", "entityType", "EnumValidator"},
		{"POST", queries + "/" + id + "/fields?workspaceId=w", `{"pageSize":101}`, "pageSize",
			"InclusiveBetweenValidator"},
		{"POST", queries + "/" + id + "/fields?workspaceId=w", `{"paginationToken":"x"}`, "paginationToken",
			"PaginationTokenValidator"},
		{"POST", queries + "/" + id + "/fields?workspaceId=w", `{"filters":{"colour":"x"}}`, "filters.colour",
			"extra_forbidden"},
		{"POST", queries + "/" + id + "/fields/summary?workspaceId=w", `{"filters":{}}`, "filters.categories",
			"NotNullValidator"},
		{"POST", groupCommands, `{"name":"g","dataGroupFields":[]}`, "dataGroupFields", "NotNullValidator"},
		{"POST", groupCommands, `{"name":"g","dataGroupFields":` + list(201, func(i int) string {
			return fmt.Sprintf(`{"name":"n","dataKey":"k%d","fieldType":"TextBox"}`, i)
		}) + `}`, "dataGroupFields", "MaximumCountValidator"},
		{"POST", groupCommands, `{"name":"g","primaryDataGroupField":"x",` + oneField + `}`, "primaryDataGroupField",
			"PrimaryFieldValidator"},
		{"POST", groupCommands, `{"name":"g","revision":1,` + oneField + `}`, "revision", "extra_forbidden"},
	} {
		a.refuseProperty(tt.property, tt.validator, tt.method, tt.path, tt.data)
	}
	a.succeed("GET", queries+"?PageSize=100", "", nil)
	a.succeed("GET", queries+"/"+id+"/jurisdictions?workspaceId=w&PageSize=200", "", nil)
	a.succeed("POST", commands, `{"entityType":"Other","workspaceId":"`+long(255)+`","versionNote":"`+long(2000)+`"}`,
		nil)
	a.succeed("POST", groupCommands, `{"name":"g","dataGroupFields":`+list(200, func(i int) string {
		return fmt.Sprintf(`{"name":"n","dataKey":"k%d","fieldType":"TextBox"}`, i)
	})+`}`, nil)
}

const oneField = `"dataGroupFields":[{"name":"Role","dataKey":"role","fieldType":"TextBox"}]`

// A body that is hostile is refused, and nothing comes of it.
func TestHostileBodies(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := commands + "/" + a.newPolicy() + "/fields?workspaceId=w"
	deep := strings.Repeat(`{"operands":[`, 5000) + `{}` + strings.Repeat(`]}`, 5000)
	for name, tt := range map[string]struct {
		body   string
		status int
	}{
		"nothing":           {"", 400},
		"not JSON":          {"{", 400},
		"no object":         {"[]", 400},
		"no data":           {"{}", 400},
		"null":              {`{"data":null}`, 400},
		"a list":            {`{"data":[]}`, 400},
		"more than data":    {`{"data":` + fieldData("a", "") + `,"more":1}`, 400},
		"a key twice":       {`{"data":` + fieldData("a", `,"name":"b"`) + `}`, 400},
		"not UTF-8":         {`{"data":` + fieldData("a", `,"description":"`+"\xff"+`"`) + `}`, 400},
		"operands too deep": {`{"data":` + fieldData("a", `,"conditions":[`+deep+`]`) + `}`, 400},
		"brackets":          {strings.Repeat("[", 100_000), 400},
		"a million of them": {`{"data":` + strings.Repeat(" ", 1<<20) + `}`, 413},
		"too large a field": {`{"data":` + fieldData("a",
			`,"tags":`+list(100, func(int) string { return quoted(255) })+`,`+manyValues(40)) + `}`, 413},
		"a number too large": {`{"data":` + fieldData("a", `,"order":1e999`) + `}`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			if status, text := a.send("POST", path, tt.body); status != tt.status {
				t.Errorf("got %d %.300s, want %d", status, text, tt.status)
			}
		})
	}
	var page policyhttp.Page[policyhttp.FieldReply]
	a.succeed("POST", strings.Replace(path, commands, queries, 1), `{}`, &page)
	difftest.Len(t, "fields", 0, page.Items)
}

// manyValues is a member with n conditions of two values of 2,000 bytes.
func manyValues(n int) string {
	value := quoted(2000)
	return `"conditions":` + list(n, func(int) string {
		return `{"operands":[{"fieldName":"a","operation":"equal","value":[` + value + `,` + value + `]}]}`
	})
}

// All errors of a body are listed, but for those beyond 100.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := commands + "/" + a.newPolicy() + "/fields?workspaceId=w"
	bad := `[{"operands":` + list(150, func(int) string { return `{"operation":"like"}` }) + `}]`
	p := a.refuse(400, "VALIDATION_ERROR", "POST", path, fieldWith("conditions", bad))
	if n := len(p.ValidationErrors); n != 101 || p.ValidationErrors[100].ValidatorType != "errors_left_out" {
		t.Errorf("got %d errors, want 100 and one with the number of the others", n)
	}
	if m := p.ValidationErrors[0].ErrorMessage; !strings.HasPrefix(m, "The value must be one of equal, notEqual, ") {
		t.Errorf("an unknown operation: got %q, want the list of operations", m)
	}
}
