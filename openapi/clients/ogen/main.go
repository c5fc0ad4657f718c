//go:build ignore

// Command batch uploads a batch with the generated client and waits until it is stored.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"example.com/sluice/client"
	"github.com/google/uuid"
	"github.com/ogen-go/ogen/ogenerrors"
)

// security gives requests their access token; the client authenticates itself by the form of the token request.
type security struct{ token string }

func (s *security) BearerToken(context.Context, client.OperationName) (client.BearerToken, error) {
	return client.BearerToken{Token: s.token}, nil
}

func (s *security) ClientBasic(context.Context, client.OperationName) (client.ClientBasic, error) {
	return client.ClientBasic{}, ogenerrors.ErrSkipClientSecurity
}

func (s *security) ClientCredentials(context.Context, client.OperationName) (client.ClientCredentials, error) {
	return client.ClientCredentials{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	ctx, credentials := context.Background(), &security{}
	api, err := client.NewClient(os.Getenv("API_URL"), credentials)
	check(err)
	issued, err := api.IssueToken(ctx, &client.TokenRequest{GrantType: "client_credentials",
		ClientID:     client.NewOptUUID(uuid.MustParse(os.Getenv("CLIENT_ID"))),
		ClientSecret: client.NewOptString(os.Getenv("CLIENT_SECRET")), Scope: os.Getenv("SCOPE")})
	credentials.token = want[*client.TokenResponseHeaders](issued, err).Response.AccessToken

	created, err := api.GenerateUploadUrl(ctx, client.NewOptUploadRequest(client.UploadRequest{
		RejectOnInvalid: client.NewOptNilBool(true)}), client.GenerateUploadUrlParams{})
	upload := want[*client.UploadResponseHeaders](created, err).Response
	put(upload.URL.Value.String(), upload.RequiredHeaders.Value)

	for range 120 {
		reply, err := api.ReadBatchStatus(ctx, client.ReadBatchStatusParams{BatchID: upload.BatchID})
		check(err)
		if known, ok := reply.(*client.BatchStatusResponseHeaders); ok { // otherwise 202: the batch has no status yet
			switch status := known.Response; status.Status {
			case "PROCESSED":
				fmt.Println("PROCESSED", status.Counts.Ingested.Value)
				return
			case "ERROR", "VALIDATION_FAILED":
				log.Fatal(status.ErrorMessage)
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	log.Fatal("the batch has not ended after a minute")
}

// want returns a reply of the type that a request should have.
func want[T any](reply any, err error) T {
	check(err)
	expected, ok := reply.(T)
	if !ok {
		log.Fatalf("the service answers %+v", reply)
	}
	return expected
}

// put sends the file.
func put(url string, header map[string]string) {
	file, err := os.Open(os.Getenv("BATCH"))
	check(err)
	info, err := file.Stat()
	check(err)
	request, err := http.NewRequest("PUT", url, file)
	check(err)
	request.ContentLength = info.Size()
	for name, value := range header {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	check(err)
	if reply.StatusCode != http.StatusOK {
		log.Fatal("the upload answers ", reply.Status)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
