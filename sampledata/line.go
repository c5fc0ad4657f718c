package sampledata

import (
	"strconv"
	"strings"
	"time"
)

// line writes line n. With edits it is a bad line, whose sender is known and whose other faults are none.
func (g *Generator) line(n int64, edits []edit) {
	w, r := &g.w, &g.r
	w.begin(edits)
	first := first(n)
	w.open("")
	w.uuid("request_uuid", random{r.next()})
	w.uuid("payment_external_id", g.random(domainPayment, first))
	w.uuid("transaction_external_id", g.random(domainTransaction, first))
	w.member("payment_source_country", pick(r, countries))
	w.member("payment_target_country", pick(r, countries))
	w.member("payment_method", pick(r, methods))
	g.parties()
	g.partners()
	g.modification(n)
	g.additional("additional_fields")
	g.details()
	g.origin()
	g.money()
	w.close()
}

// first is the line that began the transaction of line n: every fourth line is a further modification of the one
// before.
func first(n int64) uint64 {
	if n%4 == 3 {
		n--
	}
	return uint64(n)
}

// parties writes the payment type, the sender and the receiver, so that the line is valid under every rule for the main
// entity. A bad line is always a payout of a known sender.
func (g *Generator) parties() {
	w, r := &g.w, &g.r
	kind := r.below(10)
	if w.edits != nil {
		kind = 9
	}
	switch {
	case kind < 4:
		w.member("payment_type", "payin")
		g.entity("sender", r.chance(15))
		g.entity("receiver", true)
	case kind < 5:
		w.member("payment_type", "ledger")
		g.entity("sender", true)
		g.entity("receiver", true)
	default:
		if kind > 5 {
			w.member("payment_type", "payout")
		}
		g.entity("sender", true)
		g.entity("receiver", r.chance(30))
	}
}

func (g *Generator) partners() {
	if g.r.chance(25) {
		g.entity("sending_partner", true)
	}
	if g.r.chance(20) {
		g.entity("receiving_partner", g.r.chance(50))
	}
}

func (g *Generator) entity(role string, known bool) {
	w, r := &g.w, &g.r
	w.key(role)
	w.open(role)
	if known {
		w.uuid("by_external_id", g.random(domainEntity, g.someEntity()))
		w.close()
		return
	}
	w.member("external_entity_type", "unknown")
	w.key("unknown")
	w.open("unknown")
	w.member("external_id", "cust-"+strconv.FormatUint(r.below(1e9), 10))
	if r.chance(40) {
		w.text("full_name", companies.from(r))
	} else {
		w.text("full_name", firstNames.from(r)+" "+lastNames.from(r))
	}
	if r.chance(50) {
		w.member("risk_assessment", pick(r, risks))
	}
	if r.chance(25) {
		w.member("label", pick(r, labels))
	}
	if r.chance(20) {
		w.member("email", "customer"+strconv.FormatUint(r.below(1e6), 10)+"@example.com")
	}
	if r.chance(10) {
		w.key("addresses")
		w.raw("[")
		g.address()
		w.raw("]")
	}
	if r.chance(5) {
		w.key("entity_groups_external")
		w.raw(`["retail","group-7"]`)
	}
	if r.chance(5) {
		g.additional("additional_fields")
	}
	w.close()
	w.close()
}

// someEntity prefers few: most transactions are of the largest customers.
func (g *Generator) someEntity() uint64 {
	n := uint64(g.opts.Entities)
	if g.r.chance(50) {
		n = max(n/20, 1)
	}
	return g.r.below(n)
}

func (g *Generator) modification(n int64) {
	w, r := &g.w, &g.r
	cents := 1 + r.below(1<<(4+r.below(20)))
	currency := pick(r, currencies)
	at := g.from.Add(time.Duration(r.below(365*24*3600*1000)) * time.Millisecond)
	w.key("modification")
	w.open("modification")
	w.uuid("external_id", g.random(domainModification, uint64(n)))
	w.member("type", pick(r, types))
	if r.chance(2) {
		w.key("amount")
		w.raw("-1.25e2")
	} else {
		w.amount("amount", cents)
	}
	w.amount("monitoring_amount", cents)
	w.amount("original_amount", cents)
	w.member("currency", currency)
	w.member("monitoring_currency", "EUR")
	w.member("original_currency", currency)
	w.key("created_at")
	w.time(at)
	if r.chance(10) {
		w.text("reason", pick(r, reasons))
	}
	if r.chance(10) {
		w.key("settled_at")
		w.time(at.Add(36 * time.Hour))
	}
	w.close()
}

// times are the ways in which writers give a date-time; without an offset it is UTC.
var times = []string{
	"2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000",
	"2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000000-07:00",
}

var summerTime = time.FixedZone("", 2*3600)

func (w *writer) time(at time.Time) {
	layout := pick(w.r, times)
	if strings.HasSuffix(layout, "-07:00") {
		at = at.In(summerTime)
	}
	w.buf = append(w.buf, '"')
	w.buf = append(at.AppendFormat(w.buf, layout), '"')
}

func (g *Generator) additional(name string) {
	w, r := &g.w, &g.r
	w.key(name)
	w.open(name)
	w.member("payment_category", pick(r, categories))
	if r.chance(50) {
		w.member("channel", pick(r, channels))
	}
	if r.chance(20) {
		w.text("booked_by", firstNames.from(r)+" "+lastNames.from(r))
	}
	w.close()
}

func (g *Generator) details() {
	w, r := &g.w, &g.r
	if r.chance(80) {
		w.text("description", strings.Replace(descriptions.from(r), "%d", strconv.FormatUint(r.below(1e8), 10), 1))
	}
	if r.chance(20) {
		w.member("payment_method_variant", pick(r, variants))
	}
	if r.chance(25) {
		w.amount("transaction_fee", r.below(500))
	}
	if r.chance(20) {
		w.member("individual_interaction_type", pick(r, interacts))
	}
	if r.chance(10) {
		w.member("business_settlement_account", "NL91ABNA0417164300")
	}
	if r.chance(10) {
		w.member("response_3d_secure", pick(r, []string{"Y", "N", "U", "A", "E"}))
		w.member("response_avs", "M")
		w.member("response_cvc2", "P")
	}
}

// origin says where the payment was made.
func (g *Generator) origin() {
	w, r := &g.w, &g.r
	if r.chance(35) {
		w.key("ip_address")
		w.buf = append(w.buf, '"')
		if r.chance(15) {
			w.raw("2001:db8::")
			w.buf = strconv.AppendUint(w.buf, r.below(1<<16), 16)
		} else {
			w.raw("203.0.113.")
			w.buf = strconv.AppendUint(w.buf, r.below(256), 10)
		}
		w.buf = append(w.buf, '"')
		w.member("user_agent", pick(r, agents))
	}
	if r.chance(8) {
		w.amount("geo_latitude", 4000+r.below(2000))
		w.amount("geo_longitude", r.below(2000))
	}
	if r.chance(3) {
		w.key("device_finger_print")
		w.raw("null")
	}
}

// money writes the accounts and addresses of both sides.
func (g *Generator) money() {
	w, r := &g.w, &g.r
	if r.chance(30) {
		w.key("sender_payment_info")
		w.open("sender_payment_info")
		w.integer("id", r.below(1<<31))
		w.member("card_bin", strconv.FormatUint(400000+r.below(199999), 10))
		w.integer("card_number", r.below(10000))
		w.close()
	}
	if r.chance(30) {
		w.key("receiver_payment_info")
		w.open("receiver_payment_info")
		w.member("bank_account_number", "DE"+strconv.FormatUint(1e18+r.below(1e18), 10)+"00")
		w.member("bank_account_bic", pick(r, banks))
		w.member("bank_country_code", pick(r, countries))
		w.close()
	}
	if r.chance(20) {
		w.key("billing")
		g.address()
	}
	if r.chance(10) {
		w.key("shipping")
		g.address()
	}
}

func (g *Generator) address() {
	w, r := &g.w, &g.r
	w.open("address")
	w.text("first_name", firstNames.from(r))
	w.text("last_name", lastNames.from(r))
	w.text("address", streets.from(r))
	w.member("postal_code", strconv.FormatUint(1000+r.below(9000), 10)+" AB")
	w.text("city", cities.from(r))
	w.member("country_code", pick(r, countries))
	w.close()
}
