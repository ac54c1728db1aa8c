package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"time"

	api "github.com/GIT_USER_ID/GIT_REPO_ID"
	"github.com/google/uuid"
)

const agent = "sip:alice@acme.example"

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func token() string {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"acme-app"}, "client_secret": {"acme-secret"}, "scope": {"switchhook/.default"}}
	answer, err := http.PostForm(os.Getenv("TOKEN_URL"), form)
	if err != nil {
		panic(err)
	}
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		panic(err)
	}
	return body.Token
}

func clientOf(address string) *api.APIClient {
	config := api.NewConfiguration()
	config.Servers = api.ServerConfigurations{{URL: address}}
	return api.NewAPIClient(config)
}

func main() {
	ctx := context.WithValue(context.Background(), api.ContextAccessToken, token())
	client := clientOf(os.Getenv("API"))
	subscriptions, deliveries, agents := client.SubscriptionsAPI, client.DeliveriesAPI, client.AgentsAPI

	input := api.NewSubscriptionInput([]api.SubscribedType{api.CALL_STATUS})
	input.SetUrl(os.Getenv("HOOK"))
	input.SetDescription("go")
	input.SetFilter(map[string]map[string][]interface{}{"call.status": {"state": {7}}})
	created := must(subscriptions.CreateSubscription(ctx).SubscriptionInput(*input).Execute())
	pull := api.NewSubscriptionInput([]api.SubscribedType{api.AGENT_STATUS})
	pull.SetMode("pull")
	other := must(subscriptions.CreateSubscription(ctx).SubscriptionInput(*pull).Execute())

	listed := map[string]bool{}
	for cursor := ""; ; {
		request := subscriptions.ListSubscriptions(ctx).Limit(1)
		if cursor != "" {
			request = request.Cursor(cursor)
		}
		page, answer, err := request.Execute()
		for _, one := range must(page, answer, err) {
			listed[one.Id] = true
		}
		if cursor = answer.Header.Get("Next-Cursor"); cursor == "" {
			break
		}
	}
	check(listed[created.Id] && listed[other.Id], "list over pages")

	change := api.NewSubscriptionChange()
	change.SetDescription("changed")
	changed := must(subscriptions.ChangeSubscription(ctx, created.Id).SubscriptionChange(*change).Execute())
	check(changed.GetDescription() == "changed" && changed.EventTypes[0] == "call.status" && len(changed.Filter) == 1, "patch")

	accepted := must(client.CallsAPI.Dial(ctx).DialCommand(*api.NewDialCommand(agent, "+15550101")).IdempotencyKey(uuid.NewString()).Execute())
	check(must(agents.ReadCallState(ctx, agent).Execute()).AgentUri == agent, "call state")

	parked := func(run int32) api.DeliverySummary {
		for i := 0; i < 100; i++ {
			page := must(deliveries.ListDeliveries(ctx, created.Id).State("parked").From(time.Now().Add(-time.Hour)).Execute())
			for _, item := range page.Items {
				if item.Run >= run {
					return item
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
		panic("no delivery was parked")
	}
	first := parked(1)
	check(first.Attempts[0].GetStatus() == 400, "attempt")
	leg := must(client.CallsAPI.ReadCall(ctx, accepted.CallId).Execute()).Legs[0]
	check(leg.State == int32(api.CALL_STATE_ENDED), "state of the call")
	check(must(agents.SetPresence(ctx, agent).PresenceSetting(*api.NewPresenceSetting("66")).Execute()).StatusCode == 66, "presence")
	must(agents.SetPresence(ctx, agent).PresenceSetting(*api.NewPresenceSetting("2")).Execute())

	original := must(client.CallsAPI.ReadCall(ctx, os.Getenv("ORIGINAL_CALL")).Execute()).Legs[0].GetConsultation()
	check(original.GetCallId() == os.Getenv("CONSULTATION_CALL") && original.GetTarget() == os.Getenv("TARGET"), "original call")
	consultation := must(client.CallsAPI.ReadCall(ctx, original.GetCallId()).Execute()).Legs[0].GetConsultation()
	check(consultation.GetForCallId() == os.Getenv("ORIGINAL_CALL") && !consultation.HasCallId(), "consultation")
	check(must(deliveries.ReadPolicy(ctx).Execute()).Retention.ParkedMs == 30*86_400_000, "policy")

	check(must(deliveries.Redeliver(ctx, first.DeliveryId).Execute()).Run == 2, "redeliver")
	parked(2)
	check(must(deliveries.PreviewRecovery(ctx, created.Id).RecoveryInput(*api.NewRecoveryInput()).Execute()).Count == 1, "preview")
	check(must(deliveries.Recover(ctx, created.Id).RecoveryInput(*api.NewRecoveryInput()).Execute()).Found == 1, "recover")

	_, _, err := subscriptions.ReadSubscription(ctx, uuid.NewString()).Execute()
	problem, ok := err.(*api.GenericOpenAPIError).Model().(api.Problem)
	check(ok && problem.Code == "subscription-not-found", "code")

	later := clientOf(os.Getenv("CHANGED_API"))
	check(must(later.AgentsAPI.ReadAgentState(ctx, agent).Execute()).DeviceStatus == 99, "an unknown number")
	check(must(later.SubscriptionsAPI.ReadSubscription(ctx, created.Id).Execute()).Health.State == "later", "an unknown value")
	check(len(must(later.DeliveriesAPI.ListDeliveries(ctx, created.Id).State("any").Execute()).Items) > 0, "unknown fields")
	check(len(must(later.CallsAPI.ListCalls(ctx).Execute()).Items) > 0, "calls with unknown values")

	for _, id := range []string{created.Id, other.Id} {
		if _, err := subscriptions.DeleteSubscription(ctx, id).Execute(); err != nil {
			panic(err)
		}
	}
}
