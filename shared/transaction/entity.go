package transaction

// entityValue reads one of the four entities and judges the way in which it is given.
func (s *Scanner) entityValue(b []byte, i int, f *field) int {
	at := i
	s.entity = entityID{}
	i, present := s.nested(b, i, f)
	if i < 0 || b[at] != '{' {
		return i
	}
	e, form := s.entity, formNone
	if e.unknown {
		form = formUnknown
	}
	byID, other := present&memberByExternalID != 0, present&(memberEntityType|memberUnknown) != 0
	switch {
	case byID && other:
		s.find(CodeEntityAmbiguous, f, at)
		form = formNone
	case byID && e.id != nil:
		form = formKnown
		s.result.References = append(s.result.References, Reference{Role: f.role, ID: e.id, Offset: e.at})
	case byID:
		form = formNone
	case present&memberEntityType == 0:
		s.find(CodeEntityMissing, f, at)
	case e.unknown && present&memberUnknown == 0:
		s.push(f.key)
		s.find(CodeMissing, unknownMember, at)
		s.pop()
	}
	s.sides[f.role] = side{form: form, at: at}
	return i
}

// knownEntity reads the commonest entity, one with by_external_id alone, in its commonest writing. It returns 0 when there is
// anything else at b[i], for entityValue. Its ID is read here and not by ascii, which costs a fortieth of a line more.
func (s *Scanner) knownEntity(b []byte, i int, f *field) int {
	const opening = `{"by_external_id":`
	if k := (*[len(opening)]byte)(b[i : i+len(opening)]); string(k[:16]) != opening[:16] || string(k[10:]) != opening[10:] {
		return 0
	}
	start := oneSpace(b, i+len(opening))
	end, high := plainText(b, start+1)
	if b[start] != '"' || high || b[end] != '"' || b[end+1] != '}' || end == start+1 || end-start-1 > MaxIDBytes {
		return 0
	}
	text := b[start+1 : end]
	s.result.References = append(s.result.References, Reference{Role: f.role, ID: text, Offset: start})
	s.sides[f.role] = side{form: formKnown, at: i}
	return end + 2
}

var unknownMember = entityObject.byName["unknown"]

// judgeMainEntity chooses the entity that the line is about. It finds fault only with roles that are given in the unknown
// form: a role that is absent or wrong has its own finding already, and may turn out to be known once it is corrected.
func (s *Scanner) judgeMainEntity() {
	first, second := s.mainCandidates()
	switch {
	case s.sides[first].form == formKnown:
		s.result.MainEntity = first
	case s.sides[second].form == formKnown:
		s.result.MainEntity = second
	case s.sides[first].form == formUnknown && s.sides[second].form == formUnknown:
		f := roleFields[first]
		if first == second {
			s.find(CodeMainEntityUnknown, f, s.sides[first].at)
		} else {
			s.findAtKey(CodeMainEntityUnknown, msgNoMainEntity, s.sides[first].at, f.key)
		}
	}
}

// mainCandidates returns the roles of which one must be known: twice the same where there is no choice.
func (s *Scanner) mainCandidates() (first, second Role) {
	switch {
	case s.rules.MainEntity != ByPaymentType:
		return Sender, Receiver
	case string(s.payment) == "payin":
		return Receiver, Receiver
	default:
		return Sender, Sender
	}
}

var roleFields = map[Role]*field{Sender: lineObject.byName["sender"], Receiver: lineObject.byName["receiver"]}
