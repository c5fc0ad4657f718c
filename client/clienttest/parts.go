package clienttest

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sluice/client"
)

// partSize is the size of the parts of an upload in parts.
const partSize = 8

// parts is an upload in parts.
type parts struct {
	size      int64
	checksums bool
	stored    map[int][]byte
}

func (p *parts) count() int { return max(1, int((p.size+partSize-1)/partSize)) }

// startParts begins the upload in parts of a new batch.
func (s *Server) startParts(id string, b *batch) client.Upload {
	b.parts = &parts{size: *b.ContentLength, checksums: b.PartChecksums, stored: map[int][]byte{}}
	return client.Upload{BatchID: id, UploadID: "upload", PartSize: partSize, PartCount: int64(b.parts.count()),
		MaxBytes: s.MaxBytes, ExpiresAt: time.Now().Add(urlLifetime).UTC()}
}

// findParts returns the upload in parts that a request names, which must be under way.
func (s *Server) findParts(w http.ResponseWriter, r *http.Request) *batch {
	b := s.findBatch(w, r)
	switch {
	case b == nil:
		return nil
	case b.parts == nil:
		replyMessage(w, http.StatusConflict, "The file of this batch is uploaded by a single PUT; it has no parts.")
	case b.uploaded:
		replyMessage(w, http.StatusConflict, "The upload is complete.")
	default:
		return b
	}
	return nil
}

func (s *Server) listParts(w http.ResponseWriter, r *http.Request) {
	b := s.findParts(w, r)
	if b == nil {
		return
	}
	list := []any{}
	for number := 1; number <= b.parts.count(); number++ {
		content, ok := b.parts.stored[number]
		if !ok {
			continue
		}
		part := map[string]any{"part_number": number, "size": len(content), "etag": etag(content),
			"checksum_sha256": nil}
		if b.parts.checksums {
			part["checksum_sha256"] = sha256Of(content)
		}
		list = append(list, part)
	}
	reply(w, http.StatusOK, map[string]any{"part_size": partSize, "part_count": b.parts.count(),
		"content_length": b.parts.size, "part_checksums": b.parts.checksums, "parts": list})
}

func (s *Server) signParts(w http.ResponseWriter, r *http.Request) {
	b := s.findParts(w, r)
	if b == nil {
		return
	}
	var in struct {
		Numbers   []int    `json:"part_numbers"`
		Checksums []string `json:"checksums_sha256"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil ||
		b.parts.checksums != (len(in.Checksums) == len(in.Numbers)) {
		replyInvalid(w, client.Detail{Loc: []any{"body"}, Msg: "Not the expected JSON.", Type: "json_invalid"})
		return
	}
	list := []any{}
	for i, number := range in.Numbers {
		headers := map[string]string{}
		if b.parts.checksums {
			headers["X-Amz-Checksum-Sha256"] = in.Checksums[i]
		}
		list = append(list, map[string]any{"part_number": number, "required_headers": headers,
			"url":        fmt.Sprintf("%s/storage/parts/%s/%d?%s", s.URL, r.PathValue("id"), number, b.signature),
			"expires_at": time.Now().Add(urlLifetime).UTC()})
	}
	reply(w, http.StatusOK, map[string]any{"parts": list})
}

func (s *Server) putPart(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.batches[r.PathValue("id")]
	number, _ := strconv.Atoi(r.PathValue("number"))
	switch {
	case r.Header.Get("Authorization") != "":
		s.problem("an access token was sent to the storage")
		replyStorageError(w, http.StatusBadRequest, "InvalidArgument", "Only one auth mechanism allowed")
	case err != nil || int64(len(content)) != r.ContentLength:
		replyStorageError(w, http.StatusBadRequest, "IncompleteBody", "The body is shorter than declared.")
	case b == nil || b.parts == nil || b.uploaded:
		replyStorageError(w, http.StatusNotFound, "NoSuchUpload", "The upload does not exist.")
	case b.parts.checksums && r.Header.Get("X-Amz-Checksum-Sha256") != sha256Of(content):
		replyStorageError(w, http.StatusBadRequest, "BadDigest", "The checksum does not match.")
	default:
		b.parts.stored[number] = content
		w.Header().Set("ETag", etag(content))
	}
}

func (s *Server) completeParts(w http.ResponseWriter, r *http.Request) {
	b := s.findBatch(w, r)
	var in struct {
		Parts []struct {
			Number int    `json:"part_number"`
			ETag   string `json:"etag"`
		}
	}
	if b == nil {
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || b.parts == nil {
		replyInvalid(w, client.Detail{Loc: []any{"body"}, Msg: "Not the expected JSON.", Type: "json_invalid"})
		return
	}
	var whole bytes.Buffer
	for _, p := range in.Parts {
		content, ok := b.parts.stored[p.Number]
		if !ok || strings.Trim(p.ETag, `"`) != strings.Trim(etag(content), `"`) {
			replyMessage(w, http.StatusConflict, fmt.Sprintf("Part %d is not uploaded.", p.Number))
			return
		}
		whole.Write(content)
	}
	if int64(whole.Len()) != b.parts.size {
		replyMessage(w, http.StatusConflict, "Parts are not named.")
		return
	}
	if !b.uploaded {
		b.uploaded, b.content, b.receivedAt = true, whole.Bytes(), s.receiptTime()
		b.decide()
	}
	reply(w, http.StatusOK, map[string]any{"batch_id": r.PathValue("id")})
}

// giveUpParts ends a batch whose upload is not complete.
func (s *Server) giveUpParts(w http.ResponseWriter, r *http.Request) {
	b := s.findParts(w, r)
	if b == nil {
		return
	}
	b.parts, b.status, b.errorMessage = nil, client.StatusError, "The upload was given up by the client."
	reply(w, http.StatusOK, map[string]any{"batch_id": r.PathValue("id")})
}

func etag(content []byte) string {
	sum := md5.Sum(content)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func sha256Of(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}
