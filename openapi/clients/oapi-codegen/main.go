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
)

func main() {
	ctx, id, secret := context.Background(), uuid.MustParse(os.Getenv("CLIENT_ID")), os.Getenv("CLIENT_SECRET")
	var token string
	api, err := client.NewClientWithResponses(os.Getenv("API_URL"),
		client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			return nil
		}))
	check(err)
	issued, err := api.IssueTokenWithFormdataBodyWithResponse(ctx, client.TokenRequest{
		GrantType: "client_credentials", ClientId: &id, ClientSecret: &secret, Scope: os.Getenv("SCOPE"),
	})
	check(err)
	token = issued.JSON200.AccessToken

	rejectOnInvalid := true
	upload, err := api.GenerateUploadUrlWithResponse(ctx, nil, client.UploadRequest{RejectOnInvalid: &rejectOnInvalid})
	check(err)
	put(*upload.JSON200.Url, *upload.JSON200.RequiredHeaders)

	for range 120 {
		reply, err := api.ReadBatchStatusWithResponse(ctx, upload.JSON200.BatchId)
		check(err)
		if status := reply.JSON200; status != nil { // nil with 202: the batch has no status yet
			switch status.Status {
			case "PROCESSED":
				fmt.Println("PROCESSED", *status.Counts.Ingested)
				return
			case "ERROR", "VALIDATION_FAILED":
				log.Fatal(status.ErrorMessage)
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	log.Fatal("the batch has not ended after a minute")
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
