package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/client"
	"sluice/internal/linefile"
)

// maxOptionsBytes is the length of the longest request for an upload.
const maxOptionsBytes = 64 << 10

// uploadRequest is what the page asks for, with the names of the interface.
type uploadRequest struct {
	RejectOnInvalid *bool               `json:"reject_on_invalid"`
	MaxRejected     *client.RejectLimit `json:"max_rejected"`
	ValidateOnly    bool                `json:"validate_only"`
	OnDuplicate     string              `json:"on_duplicate"`
	Name            string              `json:"name"`
	Metadata        map[string]string   `json:"metadata"`
	Screening       *client.Screening   `json:"screen_unknown"`
}

// options returns what the service is asked for.
func (r uploadRequest) options() client.UploadOptions {
	o := client.UploadOptions{MaxRejected: r.MaxRejected, ValidateOnly: r.ValidateOnly, Name: r.Name,
		Metadata:  r.Metadata,
		Screening: r.Screening}
	o.RejectOnInvalid = r.MaxRejected == nil && (r.RejectOnInvalid == nil || *r.RejectOnInvalid)
	if r.OnDuplicate != client.AcceptDuplicate { // releases that do not know it accept
		o.OnDuplicate = r.OnDuplicate
	}
	return o
}

// startUpload begins the upload of a file that is checked. One whose batch has ended can be uploaded again.
func (f *Files) startUpload(w http.ResponseWriter, r *http.Request, x *file) {
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOptionsBytes))
	in.DisallowUnknownFields()
	var request uploadRequest
	if err := in.Decode(&request); err != nil && err != io.EOF {
		writeProblem(w, problem{Status: http.StatusBadRequest, Title: "The options cannot be read",
			Detail: sentence(strings.TrimPrefix(err.Error(), "json: "))})
		return
	}
	f.mu.Lock()
	state, isGone := x.state, x.removed
	isReady := !isGone && (state == stateChecked || state == stateDone)
	if isReady {
		x.upload = &upload{asked: request.options(), request: request.options(), inParts: x.size >= f.partsFrom}
		x.state, x.problem = stateUploading, nil
		x.sent.begin(f.config.Now(), 0)
		f.start(x, func(ctx context.Context) { f.runUpload(ctx, x) })
	}
	f.mu.Unlock()
	switch {
	case isGone:
		refuseGone(w)
	case !isReady:
		refuseState(w, state)
	default:
		f.answer(w, http.StatusAccepted, x)
	}
}

// pauseUpload ends the sending of a file until it is resumed.
func (f *Files) pauseUpload(w http.ResponseWriter, _ *http.Request, x *file) {
	f.mu.Lock()
	state, j := x.state, x.job
	f.mu.Unlock()
	if state != stateUploading && state != statePaused {
		refuseState(w, state)
		return
	}
	if state == stateUploading && j != nil {
		j.cancel(errPaused)
		<-j.done
	}
	f.answer(w, http.StatusOK, x)
}

// resumeUpload goes on with an upload that was paused, or that waits after it has broken off.
func (f *Files) resumeUpload(w http.ResponseWriter, _ *http.Request, x *file) {
	f.mu.Lock()
	state := x.state
	switch {
	case state == statePaused:
		x.state, x.problem = stateUploading, nil
		f.start(x, func(ctx context.Context) { f.runUpload(ctx, x) })
	case state == stateUploading || state == stateFollowing:
		if x.upload.retryNow != nil {
			x.upload.retryNow()
		}
	default:
		f.mu.Unlock()
		refuseState(w, state)
		return
	}
	f.mu.Unlock()
	f.answer(w, http.StatusAccepted, x)
}

// cancelUpload gives an upload up or, if the service has the file, cancels its batch. The file stays, and can be
// uploaded again.
func (f *Files) cancelUpload(w http.ResponseWriter, r *http.Request, x *file) {
	f.mu.Lock()
	state, j, u := x.state, x.job, x.upload
	f.mu.Unlock()
	switch {
	case state != stateUploading && state != statePaused && state != stateFollowing:
		refuseState(w, state)
		return
	case state == stateUploading && j != nil:
		j.cancel(errCancelled)
		<-j.done
	}
	f.mu.Lock()
	isUploaded := u.uploaded
	f.mu.Unlock()
	if isUploaded {
		s, err := f.config.Client.CancelBatch(r.Context(), u.batchID)
		if err != nil {
			p := problemOfUpload(err)
			writeProblem(w, problem{Status: http.StatusConflict, Title: "The batch cannot be cancelled",
				Detail:    p.Detail,
				ErrorCode: "not_cancelled"})
			return
		}
		s.Reply = nil
		f.update(func() { u.status = &s })
		f.answer(w, http.StatusOK, x)
		return
	}
	f.giveUp(r.Context(), x)
	f.update(func() {
		x.state, x.upload = stateChecked, nil
		x.problem = &fileProblem{Code: "cancelled", Title: "The upload was cancelled",
			Detail: "Nothing of it was stored."}
	})
	f.answer(w, http.StatusOK, x)
}

// Unfinished is an upload, or a batch, that the console leaves behind when it ends.
type Unfinished struct {
	// Name is that of the file, as the browser has given it.
	Name    string
	BatchID string
	// Uploaded means that the service has the file, so that the batch goes on without the console.
	Uploaded bool
	// Command is the command line with which to go on. It names the original file, because the copy is removed.
	Command string
}

// Unfinished returns what the console leaves behind, in the order of the files.
func (f *Files) Unfinished() []Unfinished {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Unfinished
	for _, x := range f.files {
		u := x.upload
		switch {
		case u == nil || x.state == stateDone:
		case u.uploaded:
			out = append(out, Unfinished{x.name, u.batchID, true, f.command("status") + " " + u.batchID + " --follow"})
		case u.batchID != "" && u.inParts:
			out = append(out, Unfinished{x.name, u.batchID, false,
				f.command("upload") + " --resume " + u.batchID + " " + nameArgument(x.name)})
		default:
			out = append(out, Unfinished{x.name, u.batchID, false, uploadCommand(f.command("upload"), x.name, u.asked)})
		}
	}
	return out
}

// nameArgument writes the name of a file as an argument of a command.
func nameArgument(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return linefile.ShellQuote(name)
}

// command returns how a command line begins that has the connection of the console.
func (f *Files) command(name string) string {
	return strings.TrimSpace("sluice " + name + " " + f.config.Flags)
}

// uploadCommand returns the command line that uploads a file with options; command is how it begins.
func uploadCommand(command, name string, o client.UploadOptions) string {
	args := []string{command, nameArgument(name)}
	add := func(arg string) { args = append(args, linefile.ShellQuote(arg)) }
	option := func(flag, value string) { args = append(args, "--"+flag, linefile.ShellQuote(value)) }
	switch {
	case o.MaxRejected != nil:
		option("max-rejected", o.MaxRejected.String())
	case !o.RejectOnInvalid:
		args = append(args, "--reject-on-invalid=false")
	}
	if o.ValidateOnly {
		args = append(args, "--validate-only")
	}
	if o.OnDuplicate != "" {
		option("on-duplicate", o.OnDuplicate)
	}
	if o.Name != "" {
		option("name", o.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Metadata)) {
		args = append(args, "--metadata")
		add(key + "=" + o.Metadata[key])
	}
	if s := o.Screening; s != nil {
		lists := strings.Join(s.Lists, ",")
		if lists == "" {
			lists = "all"
		}
		option("screen", lists)
		if s.Threshold != nil {
			option("threshold", strconv.FormatFloat(*s.Threshold, 'g', -1, 64))
		}
		if s.OnHit != "" {
			option("on-hit", s.OnHit)
		}
	}
	return strings.Join(args, " ")
}

// String says what is left behind, in a line.
func (u Unfinished) String() string {
	if u.Uploaded {
		return fmt.Sprintf("%s was uploaded; its batch goes on: %s", u.Name, u.Command)
	}
	return fmt.Sprintf("%s was not uploaded completely; continue with: %s", u.Name, u.Command)
}
