import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.BatchesApi;
import org.openapitools.client.api.TokensApi;
import org.openapitools.client.model.BatchStatus;
import org.openapitools.client.model.Upload;
import org.openapitools.client.model.UploadRequest;

/** Uploads a batch with the generated client and waits until it is stored. */
public class Batch {
  public static void main(String[] args) throws Exception {
    ApiClient api = new ApiClient();
    api.updateBaseUri(System.getenv("API_URL"));
    String token = new TokensApi(api).issueToken("client_credentials", System.getenv("SCOPE"),
        UUID.fromString(System.getenv("CLIENT_ID")), System.getenv("CLIENT_SECRET")).getAccessToken();
    api.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));

    BatchesApi batches = new BatchesApi(api);
    Upload upload = batches.generateUploadUrl(null, new UploadRequest().rejectOnInvalid(true));
    HttpRequest.Builder put = HttpRequest.newBuilder(URI.create(upload.getUrl().toString()))
        .PUT(HttpRequest.BodyPublishers.ofFile(Path.of(System.getenv("BATCH"))));
    upload.getRequiredHeaders().forEach(put::header);
    int stored = HttpClient.newHttpClient().send(put.build(), HttpResponse.BodyHandlers.discarding()).statusCode();
    if (stored != 200) {
      throw new IllegalStateException("the upload answers " + stored);
    }

    for (int i = 0; i < 120; i++, Thread.sleep(500)) {
      ApiResponse<BatchStatus> reply = batches.readBatchStatusWithHttpInfo(upload.getBatchId());
      if (reply.getStatusCode() != 200) {
        continue; // 202: the batch has no status yet
      }
      switch (reply.getData().getStatus()) {
        case PROCESSED:
          System.out.println("PROCESSED " + reply.getData().getCounts().getIngested());
          return;
        case ERROR:
        case VALIDATION_FAILED:
          throw new IllegalStateException(reply.getData().getErrorMessage());
        default:
      }
    }
    throw new IllegalStateException("the batch has not ended after a minute");
  }
}
