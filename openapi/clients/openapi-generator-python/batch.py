"""Uploads a batch with the generated client and waits until it is stored."""

import os
import time
import urllib.request

import openapi_client as sluice

api = sluice.ApiClient(sluice.Configuration(host=os.environ["API_URL"]))
token = sluice.TokensApi(api).issue_token(
    grant_type="client_credentials",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    scope=os.environ["SCOPE"],
)
api.configuration.access_token = token.access_token

batches = sluice.BatchesApi(api)
upload = batches.generate_upload_url(upload_request=sluice.UploadRequest(reject_on_invalid=True))
with open(os.environ["BATCH"], "rb") as file:
    urllib.request.urlopen(
        urllib.request.Request(upload.url, file.read(), upload.required_headers, method="PUT")
    )

for _ in range(120):
    status = batches.read_batch_status(upload.batch_id)
    if isinstance(status, sluice.BatchStatus):  # BatchPending: the batch has no status yet
        if status.status == "PROCESSED":
            print("PROCESSED", status.counts.ingested)
            break
        if status.status in ("ERROR", "VALIDATION_FAILED"):
            raise SystemExit(status.error_message)
    time.sleep(0.5)
else:
    raise SystemExit("the batch has not ended after a minute")
