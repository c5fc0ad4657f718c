package scanner

import (
	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/ingest/transaction/swar"
)

// entityForm is the way in which an entity is given.
type entityForm uint8

const (
	// formNone is the form of an entity that is absent or is not given in a valid way.
	formNone entityForm = iota

	// formKnown is the form of an entity with by_external_id.
	formKnown

	// formUnknown is the form of an entity whose external_entity_type is unknown.
	formUnknown
)

// entityState is the state of the entity in one role.
type entityState struct {
	form entityForm

	// offset is the offset of the entity's object in the line.
	offset int
}

// entityCapture has the members of an entity.
type entityCapture struct {
	// isUnknown is set if external_entity_type is unknown.
	isUnknown bool

	// id is by_external_id without escapes, nil if it is absent or not valid; idOffset is its offset in the line.
	id       []byte
	idOffset int

	// unknownID and fullName are the members of an unknown entity, without escapes; nil if absent or no string.
	// fullNameOffset is the offset of the name in the line. They are kept only if names are collected.
	unknownID      []byte
	fullName       []byte
	fullNameOffset int
}

// The members of an entity to which the rules for entities refer.
var (
	byExternalIDField = entityObject.byName["by_external_id"]
	entityTypeField   = entityObject.byName["external_entity_type"]
	unknownField      = entityObject.byName["unknown"]
)

// readEntityField reads one of the four entities and checks that it is given in exactly one way.
func (s *Scanner) readEntityField(b []byte, i int, f *field) int {
	start := i
	s.entity = entityCapture{}
	i, present := s.readObjectField(b, i, f)
	if i < 0 || b[start] != '{' {
		return i
	}
	if s.entity.fullName != nil {
		s.result.Names = append(s.result.Names, transaction.Name{
			Role: f.Role, ExternalID: s.entity.unknownID, FullName: s.entity.fullName, Offset: s.entity.fullNameOffset,
		})
	}
	e, form := &s.entity, formNone
	if e.isUnknown {
		form = formUnknown
	}
	hasID, hasOther := present&byExternalIDField.bit != 0, present&(entityTypeField.bit|unknownField.bit) != 0
	switch {
	case hasID && hasOther:
		s.addFieldFinding(transaction.CodeEntityAmbiguous, f, start)
		form = formNone
	case hasID && e.id != nil:
		form = formKnown
		s.addReference(transaction.Reference{Role: f.Role, ID: e.id, Offset: e.idOffset})
	case hasID:
		form = formNone
	case present&entityTypeField.bit == 0:
		s.addFieldFinding(transaction.CodeEntityMissing, f, start)
	case e.isUnknown && present&unknownField.bit == 0:
		s.pushPath(f.key)
		s.addFieldFinding(transaction.CodeMissing, unknownField, start)
		s.popPath()
	}
	s.entities[f.Role] = entityState{form: form, offset: start}
	return i
}

// fastKnownEntity reads the most frequent entity, one with by_external_id alone. It does not call fastASCII for the ID,
// which would cost a fortieth of the time for a line.
func (s *Scanner) fastKnownEntity(b []byte, i int, f *field) int {
	const opening = `{"by_external_id":`
	k := (*[len(opening)]byte)(b[i : i+len(opening)])
	if string(k[:16]) != opening[:16] || string(k[10:]) != opening[10:] {
		return declined
	}
	start := skipOneSpace(b, i+len(opening))
	end, nonASCII := swar.SkipPlainText(b, start+1)
	if b[start] != '"' || nonASCII || b[end] != '"' || b[end+1] != '}' ||
		end == start+1 || end-start-1 > transaction.MaxIDBytes {
		return declined
	}
	id := b[start+1 : end]
	s.addReference(transaction.Reference{Role: f.Role, ID: id, Offset: start})
	s.entities[f.Role] = entityState{form: formKnown, offset: i}
	return end + 2
}

func (s *Scanner) addReference(r transaction.Reference) {
	s.result.References = append(s.result.References, r)
}

// chooseMainEntity chooses the entity for which the transaction is monitored. It makes a finding only about roles that
// are given in the unknown form: a role that is absent or wrong has a finding of its own, and may turn out to be known
// once it is corrected.
func (s *Scanner) chooseMainEntity() {
	first, second := s.mainEntityCandidates()
	switch {
	case s.entities[first].form == formKnown:
		s.result.MainEntity = first
	case s.entities[second].form == formKnown:
		s.result.MainEntity = second
	case s.entities[first].form == formUnknown && s.entities[second].form == formUnknown:
		f, offset := roleFields[first], s.entities[first].offset
		if first == second {
			s.addFieldFinding(transaction.CodeMainEntityUnknown, f, offset)
		} else {
			s.addKeyFinding(transaction.CodeMainEntityUnknown, schema.MessageNoMainEntity, offset, f.key)
		}
	}
}

// mainEntityCandidates returns the two roles one of which must have a known entity: the same role twice if there is no
// choice.
func (s *Scanner) mainEntityCandidates() (first, second transaction.Role) {
	switch {
	case s.rules.MainEntity != tenancy.ByPaymentType:
		return transaction.Sender, transaction.Receiver
	case string(s.paymentType) == "payin":
		return transaction.Receiver, transaction.Receiver
	default:
		return transaction.Sender, transaction.Sender
	}
}

// roleFields are the fields of the roles that the main entity can have.
var roleFields = map[transaction.Role]*field{
	transaction.Sender:   transactionObject.byName["sender"],
	transaction.Receiver: transactionObject.byName["receiver"],
}
