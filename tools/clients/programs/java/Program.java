import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.OffsetDateTime;
import java.util.*;
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Program {
  static final String AGENT = "sip:alice@acme.example";

  static String env(String name) { return System.getenv(name); }

  static void check(boolean holds, String what) { if (!holds) throw new AssertionError(what); }

  static String token() throws Exception {
    var form = "grant_type=client_credentials&client_id=acme-app&client_secret=acme-secret&scope=switchhook/.default";
    var request = HttpRequest.newBuilder(URI.create(env("TOKEN_URL"))).header("Content-Type", "application/x-www-form-urlencoded")
        .POST(HttpRequest.BodyPublishers.ofString(form)).build();
    var body = HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    return com.google.gson.JsonParser.parseString(body).getAsJsonObject().get("access_token").getAsString();
  }

  static DeliverySummary parked(DeliveriesApi deliveries, UUID id, int run) throws Exception {
    for (int i = 0; i < 100; i++, Thread.sleep(200)) {
      var page = deliveries.listDeliveries(id, "parked", OffsetDateTime.now().minusHours(1), null, null, null, 20, null);
      for (var item : page.getItems()) if (item.getRun() >= run) return item;
    }
    throw new AssertionError("no delivery was parked");
  }

  public static void main(String[] args) throws Exception {
    var client = new ApiClient().setBasePath(env("API"));
    client.setBearerToken(token());
    var subscriptions = new SubscriptionsApi(client);
    var deliveries = new DeliveriesApi(client);
    var agents = new AgentsApi(client);

    var input = new SubscriptionInput().url(env("HOOK")).addEventTypesItem(SubscribedType.CALL_STATUS).description("java")
        .filter(Map.of("call.status", Map.of("state", List.of(7))));
    var created = subscriptions.createSubscription(input, null);
    check(created.getSecret().startsWith("whsec_"), "secret");
    var other = subscriptions.createSubscription(new SubscriptionInput().mode(SubscriptionInput.ModeEnum.PULL).addEventTypesItem(SubscribedType.AGENT_STATUS), null);

    var listed = new HashSet<UUID>();
    for (String cursor = null; ; ) {
      var page = subscriptions.listSubscriptionsWithHttpInfo(1, cursor, null);
      for (var one : page.getData()) listed.add(one.getId());
      var next = page.getHeaders().get("next-cursor");
      if (next == null) break;
      cursor = next.get(0);
    }
    check(listed.containsAll(List.of(created.getId(), other.getId())), "list over pages");

    var changed = subscriptions.changeSubscription(created.getId(), new SubscriptionChange().description("changed"), null, null);
    check(changed.getDescription().equals("changed") && changed.getEventTypes().equals(created.getEventTypes()), "patch");
    check(changed.getFilter().equals(created.getFilter()), "patch keeps the filter");

    var calls = new CallsApi(client);
    var accepted = calls.dial(new DialCommand().agentUri(AGENT).destination("+15550101"), UUID.randomUUID().toString());
    check(accepted.getCallId() != null, "dial");
    check(agents.readCallState(AGENT).getAgentUri().equals(AGENT), "call state");

    var parked = parked(deliveries, created.getId(), 1);
    check(parked.getAttempts().get(0).getStatus() == 400, "attempt");
    var leg = calls.readCall(accepted.getCallId()).getLegs().get(0);
    check(leg.getState() == CallStateNumber.CALL_STATE_ENDED.getValue(), "state of the call");
    check(agents.setPresence(AGENT, new PresenceSetting().statusCode("66"), null).getStatusCode() == 66, "presence");
    agents.setPresence(AGENT, new PresenceSetting().statusCode("2"), null);

    var original = calls.readCall(UUID.fromString(env("ORIGINAL_CALL"))).getLegs().get(0).getConsultation();
    check(original.getCallId().toString().equals(env("CONSULTATION_CALL")) && original.getTarget().equals(env("TARGET")), "original call");
    var consultation = calls.readCall(original.getCallId()).getLegs().get(0).getConsultation();
    check(consultation.getForCallId().toString().equals(env("ORIGINAL_CALL")) && consultation.getCallId() == null, "consultation");
    check(deliveries.readPolicy().getRetention().getParkedMs() == 30 * 86_400_000L, "policy");

    check(deliveries.redeliver(parked.getDeliveryId(), null).getRun() == 2, "redeliver");
    parked(deliveries, created.getId(), 2);
    check(deliveries.previewRecovery(created.getId(), new RecoveryInput()).getCount() == 1, "preview");
    check(deliveries.recover(created.getId(), new RecoveryInput(), null).getFound() == 1, "recover");

    try {
      subscriptions.readSubscription(UUID.randomUUID());
      check(false, "no error");
    } catch (ApiException error) {
      check(error.getCode() == 404 && Problem.fromJson(error.getResponseBody()).getCode().equals("subscription-not-found"), "code");
    }

    client.setBasePath(env("CHANGED_API"));
    check(agents.readAgentState(AGENT).getDeviceStatus() == 99, "an unknown number");
    check(subscriptions.readSubscription(created.getId()).getHealth().getState().equals("later"), "an unknown value");
    check(!deliveries.listDeliveries(created.getId(), "any", null, null, null, null, null, null).getItems().isEmpty(), "unknown fields");
    check(!calls.listCalls(null, null, null, null).getItems().isEmpty(), "calls with unknown values");

    client.setBasePath(env("API"));
    for (var id : List.of(created.getId(), other.getId())) subscriptions.deleteSubscription(id, null, null);
  }
}
