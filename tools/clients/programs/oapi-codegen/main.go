package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"time"

	"example.com/program/api"
	"github.com/google/uuid"
)

const agent = "sip:alice@acme.example"

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func token() string {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"acme-app"}, "client_secret": {"acme-secret"}, "scope": {"switchhook/.default"}}
	answer := must(http.PostForm(os.Getenv("TOKEN_URL"), form))
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		panic(err)
	}
	return body.Token
}

func main() {
	ctx := context.Background()
	bearer := "Bearer " + token()
	clientOf := func(address string) *api.ClientWithResponses {
		return must(api.NewClientWithResponses(address, api.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", bearer)
			return nil
		})))
	}
	client := clientOf(os.Getenv("API"))
	text := func(value string) *string { return &value }

	hook, mode, one := os.Getenv("HOOK"), api.SubscriptionInputModePull, 1
	filter := map[string]map[string][]interface{}{"call.status": {"state": {7}}}
	input := api.SubscriptionInput{Url: &hook, EventTypes: []api.SubscribedType{api.SubscribedTypeCallStatus}, Description: text("go"), Filter: &filter}
	created := must(client.CreateSubscriptionWithResponse(ctx, nil, input)).JSON201
	pull := api.SubscriptionInput{Mode: &mode, EventTypes: []api.SubscribedType{api.SubscribedTypeAgentStatus}}
	other := must(client.CreateSubscriptionWithResponse(ctx, nil, pull)).JSON201

	listed := map[uuid.UUID]bool{}
	for params := (&api.ListSubscriptionsParams{Limit: &one}); ; {
		page := must(client.ListSubscriptionsWithResponse(ctx, params))
		for _, each := range *page.JSON200 {
			listed[each.Id] = true
		}
		next := page.HTTPResponse.Header.Get("Next-Cursor")
		if next == "" {
			break
		}
		params.Cursor = &next
	}
	check(listed[created.Id] && listed[other.Id], "list over pages")

	changed := must(client.ChangeSubscriptionWithResponse(ctx, created.Id, nil, api.SubscriptionChange{Description: text("changed")})).JSON200
	check(*changed.Description == "changed" && changed.EventTypes[0] == "call.status" && changed.Filter != nil, "patch")

	accepted := must(client.DialWithResponse(ctx, &api.DialParams{IdempotencyKey: text(uuid.NewString())}, api.DialCommand{AgentUri: agent, Destination: "+15550101"})).JSON202
	check(must(client.ReadCallStateWithResponse(ctx, agent)).JSON200.AgentUri == agent, "call state")

	parked := func(run int) api.DeliverySummary {
		state, since := api.ListDeliveriesParamsStateParked, time.Now().Add(-time.Hour)
		for i := 0; i < 100; i++ {
			for _, item := range must(client.ListDeliveriesWithResponse(ctx, created.Id, &api.ListDeliveriesParams{State: &state, From: &since})).JSON200.Items {
				if item.Run >= run {
					return item
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
		panic("no delivery was parked")
	}
	first := parked(1)
	check(*first.Attempts[0].Status == 400, "attempt")
	check(must(client.ReadCallWithResponse(ctx, accepted.CallId)).JSON200.Legs[0].State == int(api.CALLSTATEENDED), "state of the call")
	check(must(client.SetPresenceWithResponse(ctx, agent, nil, api.PresenceSetting{StatusCode: "66"})).JSON202.StatusCode == 66, "presence")
	must(client.SetPresenceWithResponse(ctx, agent, nil, api.PresenceSetting{StatusCode: "2"}))

	original := must(client.ReadCallWithResponse(ctx, uuid.MustParse(os.Getenv("ORIGINAL_CALL")))).JSON200.Legs[0].Consultation
	check(original.CallId.String() == os.Getenv("CONSULTATION_CALL") && *original.Target == os.Getenv("TARGET"), "original call")
	consultation := must(client.ReadCallWithResponse(ctx, *original.CallId)).JSON200.Legs[0].Consultation
	check(consultation.ForCallId.String() == os.Getenv("ORIGINAL_CALL") && consultation.CallId == nil, "consultation")
	check(must(client.ReadPolicyWithResponse(ctx)).JSON200.Retention.ParkedMs == 30*86_400_000, "policy")

	check(must(client.RedeliverWithResponse(ctx, first.DeliveryId, nil)).JSON202.Run == 2, "redeliver")
	parked(2)
	check(must(client.PreviewRecoveryWithResponse(ctx, created.Id, api.RecoveryInput{})).JSON200.Count == 1, "preview")
	check(must(client.RecoverWithResponse(ctx, created.Id, nil, api.RecoveryInput{})).JSON202.Found == 1, "recover")
	check(must(client.ReadSubscriptionWithResponse(ctx, uuid.New())).ApplicationproblemJSON404.Code == "subscription-not-found", "code")

	later, everything := clientOf(os.Getenv("CHANGED_API")), api.ListDeliveriesParamsStateAny
	check(must(later.ReadAgentStateWithResponse(ctx, agent)).JSON200.DeviceStatus == 99, "an unknown number")
	check(must(later.ReadSubscriptionWithResponse(ctx, created.Id)).JSON200.Health.State == "later", "an unknown value")
	check(len(must(later.ListDeliveriesWithResponse(ctx, created.Id, &api.ListDeliveriesParams{State: &everything})).JSON200.Items) > 0, "unknown fields")
	check(len(must(later.ListCallsWithResponse(ctx, nil)).JSON200.Items) > 0, "calls with unknown values")

	for _, id := range []uuid.UUID{created.Id, other.Id} {
		must(client.DeleteSubscriptionWithResponse(ctx, id, nil))
	}
}
