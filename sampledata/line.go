package sampledata

import (
	"strconv"
	"strings"
	"time"
)

// writeLine writes line n. If edits is not nil the line is bad: its sender is known, and its only errors are
// the edits and the damage done to it later.
func (g *Generator) writeLine(n int64, edits []edit) {
	w, r := &g.w, &g.r
	w.start(edits)
	first := firstLineOf(n)
	w.openObject("")
	w.uuidMember("request_uuid", random{r.next()})
	w.uuidMember("payment_external_id", g.random(domainPayment, first))
	w.uuidMember("transaction_external_id", g.random(domainTransaction, first))
	w.plainMember("payment_source_country", pickCode(r, countries, allCountries))
	w.plainMember("payment_target_country", pickCode(r, countries, allCountries))
	w.plainMember("payment_method", pick(r, methods))
	ownFields := r.chance(40)
	g.writeParties(ownFields)
	g.writeModification(n)
	g.writeDetails()
	if !ownFields || r.chance(25) {
		g.writeOrigin()
		g.writePayment()
	}
	w.closeObject()
}

// pickCode returns one of the usual codes, in a third of the cases one of all.
func pickCode(r *random, usual, all []string) string {
	if r.chance(33) {
		return pick(r, all)
	}
	return pick(r, usual)
}

// firstLineOf returns the line that began the transaction of line n: every fourth line is a further modification of the
// transaction before it.
func firstLineOf(n int64) uint64 {
	if n%4 == 3 {
		n--
	}
	return uint64(n)
}

// writeParties writes the payment type, the additional fields and all parties, such that the line is valid under every
// rule for the main entity. A bad line is always a payout of a known sender.
func (g *Generator) writeParties(ownFields bool) {
	w, r := &g.w, &g.r
	kind := r.below(10)
	if w.edits != nil {
		kind = 9
	}
	senderKnown, receiverKnown := true, true
	switch {
	case kind < 4:
		w.plainMember("payment_type", "payin")
		senderKnown = r.chance(15)
	case kind < 5:
		w.plainMember("payment_type", "ledger")
	default:
		if kind > 5 {
			w.plainMember("payment_type", "payout")
		}
		receiverKnown = r.chance(30)
	}
	if ownFields {
		g.writeOwnFields()
	} else {
		g.writeAdditional("additional_fields")
	}
	g.writeEntity("sender", senderKnown)
	if r.chance(25) {
		g.writeEntity("sending_partner", true)
	}
	g.writeEntity("receiver", receiverKnown)
	if r.chance(20) {
		g.writeEntity("receiving_partner", r.chance(50))
	}
}

// writeEntity writes the party in a role: a reference to a known entity, or an unknown entity.
func (g *Generator) writeEntity(role string, known bool) {
	w, r := &g.w, &g.r
	w.startMember(role)
	w.openObject(role)
	if known {
		w.uuidMember("by_external_id", g.random(domainEntity, g.pickEntity()))
		w.closeObject()
		return
	}
	w.plainMember("external_entity_type", "unknown")
	w.startMember("unknown")
	w.openObject("unknown")
	if r.chance(40) {
		w.uuidMember("external_id", random{r.next()})
	} else {
		w.plainMember("external_id", pick(r, customerPrefixes)+strconv.FormatUint(r.below(1e9), 10))
	}
	g.name = appendFullName(g.name[:0], r)
	w.textMember("full_name", string(g.name))
	if r.chance(50) {
		w.plainMember("risk_assessment", pick(r, risks))
	}
	if r.chance(25) {
		w.plainMember("label", pick(r, labels))
	}
	if r.chance(20) {
		w.plainMember("email", "customer"+strconv.FormatUint(r.below(1e6), 10)+"@example.com")
	}
	if r.chance(10) {
		w.startMember("addresses")
		w.writeRaw("[")
		g.writeAddress()
		w.writeRaw("]")
	}
	if r.chance(5) {
		w.startMember("entity_groups_external")
		w.writeRaw(`["retail","group-7"]`)
	}
	if r.chance(5) {
		g.writeAdditional("additional_fields")
	}
	w.closeObject()
	w.closeObject()
}

// pickEntity returns the number of a known entity. It prefers a few: most transactions are of the largest customers.
func (g *Generator) pickEntity() uint64 {
	n := uint64(g.opts.Entities)
	if g.r.chance(50) {
		n = max(n/20, 1)
	}
	return g.r.below(n)
}

// writeModification writes the modification of line n.
func (g *Generator) writeModification(n int64) {
	w, r := &g.w, &g.r
	cents := 1 + r.below(1<<(4+r.below(20)))
	currency, converted := pickCode(r, currencies, allCurrencies), cents
	if currency != "EUR" {
		converted = 1 + cents*(1+r.below(300))/100
	}
	at := g.from.Add(time.Duration(r.below(365*24*3600*1000)) * time.Millisecond)
	w.startMember("modification")
	w.openObject("modification")
	w.uuidMember("external_id", g.random(domainModification, uint64(n)))
	w.plainMember("type", pick(r, types))
	if r.chance(2) {
		w.startMember("amount")
		w.writeRaw("-1.25e2")
	} else {
		w.amountMember("amount", cents)
	}
	w.amountMember("monitoring_amount", converted)
	w.amountMember("original_amount", cents)
	w.plainMember("currency", currency)
	w.plainMember("monitoring_currency", "EUR")
	w.plainMember("original_currency", currency)
	w.startMember("created_at")
	w.writeTime(at)
	if r.chance(10) {
		w.textMember("reason", pick(r, reasons))
	}
	if r.chance(10) {
		w.startMember("settled_at")
		w.writeTime(at.Add(36 * time.Hour))
	}
	w.closeObject()
}

// timeLayouts are the forms in which programs write a date-time. One without an offset is in UTC.
var timeLayouts = []string{
	"2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000",
	"2006-01-02T15:04:05Z", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05", "2006-01-02T15:04:05-07:00",
	"2006-01-02T15:04:05.000000-07:00",
}

// summerTime is the zone of date-times with an offset.
var summerTime = time.FixedZone("", 2*3600)

// writeTime writes a date-time in one of the usual forms.
func (w *writer) writeTime(at time.Time) {
	layout := pick(w.r, timeLayouts)
	if strings.HasSuffix(layout, "-07:00") {
		at = at.In(summerTime)
	}
	w.buf = append(w.buf, '"')
	w.buf = append(at.AppendFormat(w.buf, layout), '"')
}

// writeDetails writes the description, the fee and what the card scheme answered.
func (g *Generator) writeDetails() {
	w, r := &g.w, &g.r
	if r.chance(80) {
		text := descriptions.pick(r)
		w.textMember("description", strings.Replace(text, "%d", strconv.FormatUint(r.below(1e8), 10), 1))
	}
	if r.chance(20) {
		w.plainMember("payment_method_variant", pick(r, variants))
	}
	if r.chance(25) {
		w.amountMember("transaction_fee", r.below(500))
	}
	if r.chance(20) {
		w.plainMember("individual_interaction_type", pick(r, interactions))
	}
	if r.chance(10) {
		w.plainMember("business_settlement_account", "NL91ABNA0417164300")
	}
	if r.chance(10) {
		w.plainMember("response_3d_secure", pick(r, []string{"Y", "N", "U", "A", "E"}))
		w.plainMember("response_avs", "M")
		w.plainMember("response_cvc2", "P")
	}
}

// writeOrigin writes where the payment was made.
func (g *Generator) writeOrigin() {
	w, r := &g.w, &g.r
	if r.chance(35) {
		w.startMember("ip_address")
		w.buf = append(w.buf, '"')
		if r.chance(15) {
			w.writeRaw("2001:db8::")
			w.buf = strconv.AppendUint(w.buf, r.below(1<<16), 16)
		} else {
			w.writeRaw("203.0.113.")
			w.buf = strconv.AppendUint(w.buf, r.below(256), 10)
		}
		w.buf = append(w.buf, '"')
		w.plainMember("user_agent", pick(r, agents))
	}
	if r.chance(8) {
		w.amountMember("geo_latitude", 4000+r.below(2000))
		w.amountMember("geo_longitude", r.below(2000))
	}
	if r.chance(3) {
		w.startMember("device_finger_print")
		w.writeRaw("null")
	}
}

// writePayment writes the accounts and addresses of both sides.
func (g *Generator) writePayment() {
	w, r := &g.w, &g.r
	if r.chance(30) {
		w.startMember("sender_payment_info")
		w.openObject("sender_payment_info")
		w.integerMember("id", r.below(1<<31))
		w.plainMember("card_bin", strconv.FormatUint(400000+r.below(199999), 10))
		w.integerMember("card_number", r.below(10000))
		w.closeObject()
	}
	if r.chance(30) {
		w.startMember("receiver_payment_info")
		w.openObject("receiver_payment_info")
		w.plainMember("bank_account_number", "DE"+strconv.FormatUint(1e18+r.below(1e18), 10)+"00")
		w.plainMember("bank_account_bic", pick(r, banks))
		w.plainMember("bank_country_code", pick(r, countries))
		w.closeObject()
	}
	if r.chance(20) {
		w.startMember("billing")
		g.writeAddress()
	}
	if r.chance(10) {
		w.startMember("shipping")
		g.writeAddress()
	}
}

// writeAddress writes an address.
func (g *Generator) writeAddress() {
	w, r := &g.w, &g.r
	w.openObject("address")
	w.textMember("first_name", firstNames.pick(r))
	w.textMember("last_name", lastNames.pick(r))
	w.textMember("address", streets.pick(r))
	w.plainMember("postal_code", strconv.FormatUint(1000+r.below(9000), 10)+" AB")
	w.textMember("city", cities.pick(r))
	w.plainMember("country_code", pick(r, countries))
	w.closeObject()
}
