package scanner

import (
	"bytes"
	"cmp"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// The oracle is the scanner's specification in a second, slow and obvious form: a strict JSON library reads the line
// into a tree, and each rule of docs/contract/transaction-lines.md is applied to the tree by the plainest means. It
// shares no code with the scanner but the names of codes and roles.

// verdict is the part of a transaction.Result that the oracle knows: everything but the messages.
type verdict struct {
	Blank              bool
	Findings           []transaction.Finding
	RequestUUID        string
	PaymentID          string
	TransactionID      string
	ModificationID     string
	ModificationOffset int
	References         []oracleReference
	MainEntity         transaction.Role
}

type oracleReference struct {
	Role   transaction.Role
	ID     string
	Offset int
}

// judge returns the oracle's verdict. The offset of a fault of the grammar comes from the library, and is not always
// the scanner's (see alignOffsets).
func judge(line []byte, rules transaction.Rules) verdict {
	var v verdict
	if len(bytes.Trim(line, " \t\r\n")) == 0 {
		v.Blank = true
		return v
	}
	r := &reader{dec: jsontext.NewDecoder(bytes.NewReader(line)), line: line, ids: map[string]string{},
		idAt: map[string]int{}}
	var root node
	if tok, at, ok := r.token(); ok {
		if root, ok = r.value(tok, at, ""); ok {
			if rest := bytes.TrimLeft(line[r.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
				r.fault = &broken{code: transaction.CodeJSONInvalid, at: len(line) - len(rest)}
			}
		}
	}
	v.RequestUUID = r.ids["/request_uuid"]
	v.PaymentID = r.ids["/payment_external_id"]
	v.TransactionID = r.ids["/transaction_external_id"]
	if v.ModificationID = r.ids["/modification/external_id"]; v.ModificationID != "" {
		v.ModificationOffset = r.idAt["/modification/external_id"]
	}
	if r.fault != nil {
		v.Findings = []transaction.Finding{{Code: r.fault.code, Pointer: r.fault.pointer, Offset: r.fault.at}}
		return v
	}
	o := &oracle{contract: readContract(), rules: rules, verdict: &v, forms: map[string]string{}}
	if root.kind != '{' {
		o.find(transaction.CodeObjectType, "", root.at)
		return v
	}
	o.object(root, "Transaction", "")
	o.mainEntity(root)
	slices.SortStableFunc(v.Findings, func(a, b transaction.Finding) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code))
	})
	return v
}

// oracle applies the rules of the list contract to a tree.
type oracle struct {
	contract map[string]contractObject
	rules    transaction.Rules
	verdict  *verdict
	forms    map[string]string // role -> known, unknown, or absent
}

func (o *oracle) find(code transaction.Code, pointer string, at int) {
	o.verdict.Findings = append(o.verdict.Findings, transaction.Finding{Code: code, Pointer: pointer, Offset: at})
}

func token(key string) string {
	return "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func (o *oracle) object(n node, name, pointer string) {
	rules := o.contract[name]
	named := map[string]bool{}
	for _, m := range n.members {
		here := pointer + token(m.name)
		named[m.name] = true
		rule, known := rules.rules[m.name]
		switch {
		case !known && rules.closed:
			o.find(transaction.CodeExtraForbidden, here, m.at)
		case !known:
		case !m.value.present() && rule.required:
			o.find(transaction.CodeMissing, here, m.value.at)
		case m.value.present():
			o.value(m.value, rule, m.name, here)
		}
	}
	for field, rule := range rules.rules {
		if rule.required && !named[field] {
			o.find(transaction.CodeMissing, pointer+"/"+field, n.at)
		}
	}
}

func (o *oracle) value(n node, rule contractRule, name, pointer string) {
	switch rule.kind {
	case "not-here":
		o.find(transaction.CodeEntityAmbiguous, pointer, n.at)
	case "number":
		if n.kind != '0' {
			o.find(transaction.CodeNumberType, pointer, n.at)
		} else if f, _ := strconv.ParseFloat(n.text, 64); math.IsInf(f, 0) {
			o.find(transaction.CodeNumberRange, pointer, n.at)
		}
	case "integer":
		min, max, _ := rule.limits()
		if n.kind != '0' || strings.ContainsAny(n.text, ".eE") {
			o.find(transaction.CodeIntegerType, pointer, n.at)
		} else if i, err := strconv.Atoi(n.text); err != nil || i < min || i > max {
			o.find(transaction.CodeNumberRange, pointer, n.at)
		}
	case "object", "entity":
		if n.kind != '{' {
			o.find(transaction.CodeObjectType, pointer, n.at)
			return
		}
		o.object(n, rule.argument, pointer)
		if rule.kind == "entity" {
			o.entity(n, name, pointer)
		}
	case "objects", "texts":
		if n.kind != '[' {
			o.find(transaction.CodeArrayType, pointer, n.at)
		}
		for i, item := range n.items {
			here := pointer + "/" + strconv.Itoa(i)
			switch {
			case rule.kind == "texts" && item.kind != '"':
				o.find(transaction.CodeStringType, here, item.at)
			case rule.kind == "objects" && item.kind != '{':
				o.find(transaction.CodeObjectType, here, item.at)
			case rule.kind == "objects":
				o.object(item, rule.argument, here)
			}
		}
	case "texts-by-key":
		if n.kind != '{' {
			o.find(transaction.CodeObjectType, pointer, n.at)
		}
		for _, m := range n.members {
			if m.value.present() && m.value.kind != '"' {
				o.find(transaction.CodeStringType, pointer+token(m.name), m.value.at)
			}
		}
	default:
		if n.kind != '"' {
			o.find(transaction.CodeStringType, pointer, n.at)
		} else if code := o.text(n.text, rule); code != "" {
			o.find(code, pointer, n.at)
		}
	}
}

var (
	uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{` +
		`4}-[0-9a-fA-F]{12}\z`)
	bicPattern      = regexp.MustCompile(`^([0-9A-Za-z]{8}|[0-9A-Za-z]{11})\z`)
	dateTimePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|` +
		`2[0-3]):[0-5]\d)?\z`)
)

func (o *oracle) text(text string, rule contractRule) transaction.Code {
	length := func(min, max int) transaction.Code {
		switch n := utf8.RuneCountInString(text); {
		case n < min:
			return transaction.CodeStringTooShort
		case n > max:
			return transaction.CodeStringTooLong
		}
		return ""
	}
	unless := func(ok bool, code transaction.Code) transaction.Code {
		if ok {
			return ""
		}
		return code
	}
	switch rule.kind {
	case "text":
		if min, max, ok := rule.limits(); ok {
			return length(min, max)
		}
		return ""
	case "id":
		return cmp.Or(unless(text != "", transaction.CodeStringTooShort), unless(len(text) <= 255,
			transaction.CodeStringTooLong))
	case "uuid":
		return unless(uuidPattern.MatchString(text), transaction.CodeUUID)
	case "enum":
		return unless(slices.Contains(strings.Split(rule.argument, ","), text), transaction.CodeEnum)
	case "country":
		return unless(slices.Contains(schema.Countries(), text), transaction.CodeCountry)
	case "currency":
		return unless(slices.Contains(schema.Currencies(), text), transaction.CodeCurrency)
	case "ip":
		return cmp.Or(length(7, 50), unless(net.ParseIP(text) != nil, transaction.CodeIPAddress))
	case "bic":
		return cmp.Or(length(8, 11), unless(bicPattern.MatchString(text), transaction.CodeBIC))
	case "entity-type":
		return unless(text == "unknown", transaction.CodeEntityTypeInvalid)
	case "date-time", "created-at":
		return o.dateTime(text, rule.kind == "created-at")
	}
	panic("no such rule: " + rule.kind)
}

func (o *oracle) dateTime(text string, window bool) transaction.Code {
	if !dateTimePattern.MatchString(text) {
		return transaction.CodeDateTime
	}
	if !strings.HasSuffix(text, "Z") && !regexp.MustCompile(`[+-]\d\d:\d\d\z`).MatchString(text) {
		text += "Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return transaction.CodeDateTime
	}
	early := o.rules.MaxPast > 0 && at.Before(o.rules.ReceivedAt.Add(-o.rules.MaxPast))
	late := o.rules.MaxFuture > 0 && at.After(o.rules.ReceivedAt.Add(o.rules.MaxFuture))
	if window && (early || late) {
		return transaction.CodeCreatedAtOutOfRange
	}
	return ""
}

func (o *oracle) entity(n node, role, pointer string) {
	id, byID := n.member("by_external_id")
	typ, byType := n.member("external_entity_type")
	_, embedded := n.member("unknown")
	switch {
	case byID && (byType || embedded):
		o.find(transaction.CodeEntityAmbiguous, pointer, n.at)
	case byID:
		if id.kind == '"' && id.text != "" && len(id.text) <= 255 {
			o.forms[role] = "known"
			r := oracleReference{Role: roleNamed(role), ID: id.text, Offset: id.at}
			o.verdict.References = append(o.verdict.References, r)
		}
	case !byType:
		o.find(transaction.CodeEntityMissing, pointer, n.at)
	case typ.text == "unknown" && typ.kind == '"':
		o.forms[role] = "unknown"
		if !embedded {
			o.find(transaction.CodeMissing, pointer+"/unknown", n.at)
		}
	}
}

func roleNamed(name string) transaction.Role {
	for _, r := range []transaction.Role{transaction.Sender, transaction.Receiver, transaction.SendingPartner,
		transaction.ReceivingPartner} {
		if r.Name() == name {
			return r
		}
	}
	panic("no such role: " + name)
}

func (o *oracle) mainEntity(root node) {
	candidates := []string{"sender", "receiver"}
	if o.rules.MainEntity == tenancy.ByPaymentType {
		candidates = []string{"sender"}
		if t, _ := root.member("payment_type"); t.text == "payin" && t.kind == '"' {
			candidates = []string{"receiver"}
		}
	}
	for _, role := range candidates {
		if o.forms[role] == "known" {
			o.verdict.MainEntity = roleNamed(role)
			return
		}
	}
	for _, role := range candidates {
		if o.forms[role] != "unknown" {
			return
		}
	}
	n, _ := root.member(candidates[0])
	o.find(transaction.CodeMainEntityUnknown, "/"+candidates[0], n.at)
}
