// Written by make docs from docs/openapi.json.
export interface paths {
    "/api/v1/webhooks/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSubscriptions"];
        put?: never;
        post: operations["createSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readSubscription"];
        put?: never;
        post?: never;
        delete: operations["deleteSubscription"];
        options?: never;
        head?: never;
        patch: operations["changeSubscription"];
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateSubscriptionSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/event-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEventTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["checkReceiver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTenantDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["explainEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/events/{eventId}/deliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["deliverEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["recover"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["backfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/subscriptions/{id}/recoveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRecoveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/recoveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAllRecoveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/recoveries/{recoveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readRecovery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/recoveries/{recoveryId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelRecovery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/parked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listParkedCauses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readPolicy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls/dial": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["dial"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls/{callId}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["answer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls/{callId}/hangup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["hangup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls/{callId}/hold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["hold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls/{callId}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls/{callId}/transfer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["transfer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/calls/{callId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readCall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/agents/{agentUri}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readAgentState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/agents/{agentUri}/call-state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readCallState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/voice/agents/{agentUri}/presence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["setPresence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/simulator/v1/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["simulateCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/simulator/v1/calls/{callId}/remote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["simulateRemote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/simulator/v1/agents/{agentUri}/device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["simulateDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/asyncapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["readEventsDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    delivery: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["receiveDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AgentPage: {
            items: components["schemas"]["AgentWithCalls"][];
            nextCursor: string | null;
        };
        AgentState: {
            agentUri: string;
            statusCode: number;
            statusName: string;
            standingStatusCode: number;
            pendingStatusCode: number | null;
            deviceStatus: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            deviceStatusName: "unknown" | "idle" | "inUse" | "busy" | "invalid" | "unavailable" | "ringing" | "ringInUse" | "onHold";
            loggedOn: boolean;
            until: string | null;
            message: string | null;
            location: string | null;
            since: string | null;
            sequence: number;
        };
        AgentWithCalls: {
            agentUri: string;
            statusCode: number;
            statusName: string;
            standingStatusCode: number;
            pendingStatusCode: number | null;
            deviceStatus: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            deviceStatusName: "unknown" | "idle" | "inUse" | "busy" | "invalid" | "unavailable" | "ringing" | "ringInUse" | "onHold";
            loggedOn: boolean;
            until: string | null;
            message: string | null;
            location: string | null;
            since: string | null;
            sequence: number;
            calls: components["schemas"]["CallLeg"][];
        };
        Attempt: {
            run: number;
            slot: number;
            attempt: number;
            at: string;
            durationMs: number;
            outcome: "delivered" | "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url";
            status: number | null;
            answer?: string;
        };
        AuditEntry: {
            id: string;
            at: string;
            action: string;
            clientId: string;
            subject: string | null;
            issuer: string | null;
            on: {
                [key: string]: string;
            };
            fields: string[];
            address: string | null;
            userAgent: string | null;
            status: number;
            requestId: string;
            traceId: string | null;
        };
        AuditPage: {
            items: components["schemas"]["AuditEntry"][];
            nextCursor: string | null;
        };
        Call: {
            callId: string;
            legs: components["schemas"]["CallLeg"][];
        };
        CallLeg: {
            callId: string;
            agentUri: string;
            state: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            previousState: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            sequence: number;
            occurredAt: string;
            direction: number & (0 | 1 | 2);
            internal: boolean;
            role: number & (0 | 1 | 2 | 3 | 4);
            remoteParty: {
                uri: string;
                number: string | null;
                name: string | null;
                type: number & (0 | 1 | 2 | 3);
            };
            cli: string | null;
            device: string | null;
            correlationId: string | null;
            commandId: string | null;
            held: boolean;
            remoteHeld: boolean;
            startedAt: string;
            answeredAt: string | null;
            endedAt: string | null;
            durationSeconds: number | null;
            endReason: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12);
            endedBy: number & (0 | 1 | 2 | 3);
            cause: number | null;
            sipCode: number | null;
            transfer: {
                blind: boolean;
                target: string;
                role: number & (1 | 2 | 3);
                status: number & (1 | 2 | 3 | 4 | 5);
                failReason: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12);
                otherCallId: string | null;
            } | null;
            consultation: (({
                callId: string;
                target: string;
            } | {
                forCallId: string;
            } | null) | null) | {
                callId: string;
                target: string;
            } | {
                forCallId: string;
            } | null;
            commandResult: {
                commandId: string;
                command: number & (0 | 1 | 2 | 3 | 4 | 5 | 6);
                result: number & (1 | 2);
                reason: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12);
            } | null;
            allowedCommands: ("dial" | "answer" | "hangup" | "hold" | "resume" | "transfer")[];
        };
        CallPage: {
            items: components["schemas"]["CallLeg"][];
            nextCursor: string | null;
        };
        CallState: {
            agentUri: string;
            device: string | null;
            deviceStatus: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            asOf: string;
            calls: components["schemas"]["CallStatus"][];
        };
        CallStatus: {
            callId: string;
            agentUri: string;
            state: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            previousState: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            sequence: number;
            occurredAt: string;
            direction: number & (0 | 1 | 2);
            internal: boolean;
            role: number & (0 | 1 | 2 | 3 | 4);
            remoteParty: {
                uri: string;
                number: string | null;
                name: string | null;
                type: number & (0 | 1 | 2 | 3);
            };
            cli: string | null;
            device: string | null;
            correlationId: string | null;
            commandId: string | null;
            held: boolean;
            remoteHeld: boolean;
            startedAt: string;
            answeredAt: string | null;
            endedAt: string | null;
            durationSeconds: number | null;
            endReason: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12);
            endedBy: number & (0 | 1 | 2 | 3);
            cause: number | null;
            sipCode: number | null;
            transfer: {
                blind: boolean;
                target: string;
                role: number & (1 | 2 | 3);
                status: number & (1 | 2 | 3 | 4 | 5);
                failReason: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12);
                otherCallId: string | null;
            } | null;
            consultation: (({
                callId: string;
                target: string;
            } | {
                forCallId: string;
            } | null) | null) | {
                callId: string;
                target: string;
            } | {
                forCallId: string;
            } | null;
            commandResult: {
                commandId: string;
                command: number & (0 | 1 | 2 | 3 | 4 | 5 | 6);
                result: number & (1 | 2);
                reason: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12);
            } | null;
        };
        CommandAccepted: {
            callId: string;
            agentUri: string;
            command: "dial" | "answer" | "hangup" | "hold" | "resume" | "transfer";
            commandId: string;
            correlationId: string | null;
            acceptedAt: string;
            noop: boolean;
        };
        CoolDownPeriod: {
            from: string;
            until: string;
        };
        CreatedSubscription: {
            id: string;
            url: string;
            eventTypes: components["schemas"]["EventType"][];
            description: string | null;
            enabled: boolean;
            createdAt: string;
            signing: components["schemas"]["SubscriptionSigning"];
            health: components["schemas"]["EndpointHealth"];
            parked: components["schemas"]["ParkedDeliveries"];
            secret: string;
        };
        Delivery: {
            deliveryId: string;
            subscriptionId: string;
            eventId: string;
            eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
            url: string | null;
            state: "pending" | "waiting" | "acknowledged" | "parked" | "withdrawn";
            parkedReason: "exhausted" | "rejected" | null;
            parkedAt: string | null;
            nextAttemptAt: string | null;
            run: number;
            test: boolean;
            firstDueAt: string;
            attempts: components["schemas"]["Attempt"][];
            envelope: components["schemas"]["DeliveryEnvelope"] | null;
            envelopeDropped: boolean;
        };
        DeliveryEnvelope: {
            deliveryId: string;
            eventType: string;
            occurredAt: string;
            tenant: string | null;
            data: Record<string, never>;
        };
        DeliveryPage: {
            items: components["schemas"]["DeliverySummary"][];
            nextCursor: string | null;
        };
        DeliveryPolicy: {
            deliveryTimeoutMs: number;
            retryWaitsMs: number[];
            breaker: {
                failures: number;
                cooldownMs: number;
            };
            retention: {
                deliveryMs: number;
                parkedMs: number;
                journalMs: number | null;
            };
            limits: {
                parkedPerSubscription: number;
                parkedPerTenant: number;
                attemptsAtOnce: number;
                quickAttemptsAtOnce: number;
                recoveryPerSecond: number;
            };
            egressAddresses: string[];
        };
        DeliverySummary: {
            deliveryId: string;
            subscriptionId: string;
            eventId: string;
            eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
            url: string;
            state: "pending" | "waiting" | "acknowledged" | "parked" | "withdrawn";
            parkedReason: "exhausted" | "rejected" | null;
            parkedAt: string | null;
            nextAttemptAt: string | null;
            run: number;
            test: boolean;
            firstDueAt: string;
            attempts: components["schemas"]["Attempt"][];
        };
        DialCommand: {
            agentUri: string;
            destination: string;
            cli?: string | null;
            correlationId?: string | null;
        };
        EndpointHealth: {
            state: "closed" | "open" | "probing";
            consecutiveFailures: number;
            openUntil: string | null;
            lastSuccessAt: string | null;
            lastFailureAt: string | null;
            lastFailureOutcome: "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url" | null;
            lastFailureStatus: number | null;
            failingSince: string | null;
        };
        EventDelivery: {
            deliveryId: string;
            eventId: string;
            subscriptionId: string;
            state: "pending" | "waiting" | "acknowledged" | "parked" | "withdrawn";
        };
        EventDeliveryRequest: {
            subscriptionId: string;
        };
        EventPage: {
            items: components["schemas"]["ListedEvent"][];
            nextCursor: string | null;
        };
        EventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
        EventTypeDescription: {
            type: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
            description: string;
            schema: Record<string, never>;
            example: Record<string, never>;
        };
        EventTypes: {
            items: components["schemas"]["EventTypeDescription"][];
        };
        ExplainedEvent: {
            eventId: string;
            eventType: string;
            occurredAt: string | null;
            fannedOutAt: string;
            data: Record<string, never> | null;
            subscriptions: components["schemas"]["Explanation"][];
            nextCursor: string | null;
        };
        Explanation: {
            subscriptionId: string;
            url: string | null;
            verdict: "delivered" | "pending" | "waiting" | "cooling-down" | "parked" | "withdrawn" | "not-subscribed" | "disabled" | "created-later" | "changed-later" | "deleted" | "unknown";
            explanation: string;
            deliveryId: string | null;
            attemptCount: number;
            lastAttempt: components["schemas"]["Attempt"] | null;
            deliveredAt: string | null;
            nextAttemptAt: string | null;
            coolingUntil: string | null;
            parkedAt: string | null;
            parkedReason: "exhausted" | "rejected" | null;
        };
        Fault: {
            pointer: string;
            detail: string;
        };
        LegCommand: {
            agentUri: string;
        };
        ListedEvent: {
            eventId: string;
            eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
            occurredAt: string;
            listedAt: string;
            callId: string | null;
            agentUri: string | null;
            correlationId: string | null;
            number: string | null;
        };
        Me: {
            tenant: string | null;
            subject: string;
            clientId: string;
            roles: ("viewer" | "operator" | "admin")[];
            features: {
                journal: boolean;
                simulator: boolean;
                statistics: boolean;
                console: boolean;
            };
        };
        NewBackfill: {
            from: string;
            to?: string | null;
            eventTypes?: ("call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit")[] | null;
            maxPerSecond?: number | null;
            dryRun: boolean;
        };
        NewRecovery: {
            from?: string | null;
            to?: string | null;
            reason?: "exhausted" | "rejected" | null;
            eventTypes?: ("call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit")[] | null;
            maxPerSecond?: number | null;
            dryRun: boolean;
        };
        NewSubscription: {
            url: string;
            eventTypes: components["schemas"]["EventType"][];
            description?: string | null;
            enabled: boolean;
        };
        ParkedCause: {
            subscriptionId: string;
            url: string;
            parkedReason: "exhausted" | "rejected" | null;
            outcome: "delivered" | "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url" | null;
            status: number | null;
            count: number;
            since: string;
            latest: string;
        };
        ParkedCauses: {
            asOf: string;
            items: components["schemas"]["ParkedCause"][];
        };
        ParkedDeliveries: {
            count: number;
            limit: number;
            withoutBody: number;
            dropped: number;
        };
        Percentiles: {
            p50: number;
            p95: number;
            p99: number;
        };
        PresenceSetting: {
            statusCode: string | number;
            until?: string | null;
            message?: string | null;
            location?: string | null;
        };
        Problem: {
            type: string;
            title: string;
            status: number;
            code: "invalid-request" | "malformed-json" | "invalid-webhook-url" | "unknown-event-type" | "unknown-status-code" | "missing-agent-uri" | "unauthorized" | "forbidden" | "not-found" | "subscription-not-found" | "delivery-not-found" | "event-not-found" | "recovery-not-found" | "agent-not-found" | "call-not-found" | "method-not-allowed" | "invalid-call-state" | "remote-answer-unsupported" | "transfer-in-progress" | "agent-device-unavailable" | "delivery-not-parked" | "delivery-without-body" | "event-without-body" | "journal-off" | "subscription-disabled" | "subscription-deleted" | "too-many-secrets" | "check-running" | "secret-unavailable" | "recovery-in-progress" | "idempotency-key-in-use" | "body-too-large" | "unsupported-media-type" | "idempotency-key-reused" | "rate-limited" | "too-many-listeners" | "too-many-checks" | "internal" | "platform-unavailable" | "check-unfinished" | "service-unavailable";
            requestId: string;
            detail?: string;
            errors?: components["schemas"]["Fault"][];
            knownEventTypes?: string[];
            knownStatusCodes?: components["schemas"]["UserStatus"][];
            requiredRole?: "viewer" | "operator" | "admin";
            currentState?: number & (0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8);
            allowedCommands?: ("dial" | "answer" | "hangup" | "hold" | "resume" | "transfer")[];
        };
        ReceiverFinding: {
            check: "delivery" | "speed" | "duplicate" | "forged-signature" | "stale-timestamp";
            result: "passed" | "failed" | "skipped";
            seen: string;
            advice: string | null;
        };
        ReceiverReport: {
            verdict: "good" | "needs-work";
            findings: components["schemas"]["ReceiverFinding"][];
        };
        Recovery: {
            recoveryId: string;
            subscriptionId: string;
            kind: "recovery" | "backfill";
            from: string | null;
            to: string | null;
            reason: "exhausted" | "rejected" | null;
            eventTypes: ("call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit")[] | null;
            maxPerSecond: number | null;
            state: "running" | "paused" | "done" | "cancelled";
            waitingFor: "endpoint-cooling-down" | "endpoint-answers" | "subscription-enabled" | "broker" | null;
            cancelledBecause: "requested" | "subscription-deleted" | "no-progress" | null;
            found: number;
            sent: number;
            skipped: number;
            failed: number;
            remaining: number;
            parkedSince: number;
            perSecond: number;
            startedAt: string;
            updatedAt: string;
            endedAt: string | null;
        };
        RecoveryCount: {
            dryRun: true;
            count: number;
            withoutBody: number;
            oldest: string | null;
            newest: string | null;
        };
        RecoveryList: {
            items: components["schemas"]["Recovery"][];
        };
        RecoveryPage: {
            items: components["schemas"]["Recovery"][];
            nextCursor: string | null;
        };
        RemoteAction: {
            action: "answer" | "hangup" | "hold" | "resume";
        };
        RotatedSecret: {
            secret: string;
            previousValidUntil: string | null;
        };
        SecretRotation: {
            overlapSeconds?: number;
        };
        SimulatedCall: {
            agentUri: string;
            from: string;
            tenant?: string;
            ringForSeconds?: number;
            talkForSeconds?: number;
        };
        SimulatedCallRinging: {
            callId: string;
            agentUri: string;
            from: string;
        };
        SimulatedDevice: {
            online: boolean;
            tenant?: string;
        };
        Statistics: {
            step: "1m" | "1h";
            isCounted: boolean;
            points: components["schemas"]["StatisticsPoint"][];
            coolDowns: components["schemas"]["CoolDownPeriod"][];
        };
        StatisticsPoint: {
            at: string;
            attempts: number;
            acknowledged: number;
            byOutcome: {
                [key: string]: number;
            };
            parked: number;
            answerMs: components["schemas"]["Percentiles"] | null;
            delayMs: components["schemas"]["Percentiles"] | null;
        };
        Subscription: {
            id: string;
            url: string;
            eventTypes: components["schemas"]["EventType"][];
            description: string | null;
            enabled: boolean;
            createdAt: string;
            signing: components["schemas"]["SubscriptionSigning"];
            health: components["schemas"]["EndpointHealth"];
            parked: components["schemas"]["ParkedDeliveries"];
        };
        SubscriptionChange: {
            url?: string;
            eventTypes?: components["schemas"]["EventType"][];
            description?: string | null;
            enabled?: boolean;
        };
        SubscriptionSigning: {
            state: "signed" | "unsigned";
            since: string | null;
            previousValidUntil: string | null;
        };
        SubscriptionSummary: {
            subscriptionId: string;
            url: string;
            description: string | null;
            enabled: boolean;
            pending: number;
            waiting: number;
            looked: number;
            parked: number;
            oldestParkedAt: string | null;
            health: components["schemas"]["EndpointHealth"];
        };
        Summary: {
            asOf: string;
            items: components["schemas"]["SubscriptionSummary"][];
            nextCursor: string | null;
        };
        TestDelivery: {
            deliveryId: string;
            eventId: string;
            eventType: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
        };
        TransferAccepted: {
            callId: string;
            agentUri: string;
            command: "dial" | "answer" | "hangup" | "hold" | "resume" | "transfer";
            commandId: string;
            correlationId: string | null;
            acceptedAt: string;
            noop: boolean;
            consultationCallId?: string;
        };
        TransferCommand: {
            agentUri: string;
            transferTarget: string;
            blind: boolean | null;
            correlationId?: string | null;
        };
        Trial: {
            eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
        };
        UserStatus: {
            code: number;
            name: string;
        };
    };
    responses: {
        "400.invalid-request": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-request";
                };
            };
        };
        "400.invalid-request.malformed-json": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-request" | "malformed-json";
                };
            };
        };
        "400.invalid-request.missing-agent-uri.malformed-json": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-request" | "missing-agent-uri" | "malformed-json";
                };
            };
        };
        "400.invalid-request.unknown-status-code.malformed-json": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-request" | "unknown-status-code" | "malformed-json";
                };
            };
        };
        "400.invalid-webhook-url.unknown-event-type.invalid-request.malformed-json": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-webhook-url" | "unknown-event-type" | "invalid-request" | "malformed-json";
                };
            };
        };
        "401.missing-agent-uri.unauthorized": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "missing-agent-uri" | "unauthorized";
                };
            };
        };
        "401.unauthorized": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "unauthorized";
                };
            };
        };
        "403.forbidden": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "forbidden";
                };
            };
        };
        "404.agent-not-found": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "agent-not-found";
                };
            };
        };
        "404.agent-not-found.call-not-found.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "agent-not-found" | "call-not-found";
                };
            };
        };
        "404.agent-not-found.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "agent-not-found";
                };
            };
        };
        "404.call-not-found": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "call-not-found";
                };
            };
        };
        "404.delivery-not-found": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "delivery-not-found";
                };
            };
        };
        "404.delivery-not-found.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "delivery-not-found";
                };
            };
        };
        "404.event-not-found": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "event-not-found";
                };
            };
        };
        "404.event-not-found.subscription-not-found.delivery-not-found.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "event-not-found" | "subscription-not-found" | "delivery-not-found";
                };
            };
        };
        "404.recovery-not-found": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "recovery-not-found";
                };
            };
        };
        "404.subscription-not-found": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "subscription-not-found";
                };
            };
        };
        "404.subscription-not-found.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "subscription-not-found";
                };
            };
        };
        "409.agent-device-unavailable": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "agent-device-unavailable";
                };
            };
        };
        "409.agent-device-unavailable.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "agent-device-unavailable" | "idempotency-key-in-use";
                };
            };
        };
        "409.delivery-not-parked.delivery-without-body.subscription-disabled.subscription-deleted.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "delivery-not-parked" | "delivery-without-body" | "subscription-disabled" | "subscription-deleted" | "idempotency-key-in-use";
                };
            };
        };
        "409.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "idempotency-key-in-use";
                };
            };
        };
        "409.invalid-call-state.agent-device-unavailable.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-call-state" | "agent-device-unavailable" | "idempotency-key-in-use";
                };
            };
        };
        "409.invalid-call-state.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-call-state" | "idempotency-key-in-use";
                };
            };
        };
        "409.invalid-call-state.remote-answer-unsupported.agent-device-unavailable.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-call-state" | "remote-answer-unsupported" | "agent-device-unavailable" | "idempotency-key-in-use";
                };
            };
        };
        "409.invalid-call-state.transfer-in-progress.agent-device-unavailable.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "invalid-call-state" | "transfer-in-progress" | "agent-device-unavailable" | "idempotency-key-in-use";
                };
            };
        };
        "409.journal-off": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "journal-off";
                };
            };
        };
        "409.recovery-in-progress.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "recovery-in-progress" | "idempotency-key-in-use";
                };
            };
        };
        "409.recovery-in-progress.journal-off.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "recovery-in-progress" | "journal-off" | "idempotency-key-in-use";
                };
            };
        };
        "409.subscription-disabled.check-running.secret-unavailable": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "subscription-disabled" | "check-running" | "secret-unavailable";
                };
            };
        };
        "409.subscription-disabled.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "subscription-disabled" | "idempotency-key-in-use";
                };
            };
        };
        "409.subscription-disabled.subscription-deleted.delivery-not-parked.delivery-without-body.event-without-body.journal-off.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "subscription-disabled" | "subscription-deleted" | "delivery-not-parked" | "delivery-without-body" | "event-without-body" | "journal-off" | "idempotency-key-in-use";
                };
            };
        };
        "409.too-many-secrets.idempotency-key-in-use.replayed": {
            headers: {
                "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "too-many-secrets" | "idempotency-key-in-use";
                };
            };
        };
        "413.body-too-large": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "body-too-large";
                };
            };
        };
        "415.unsupported-media-type": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "unsupported-media-type";
                };
            };
        };
        "422.idempotency-key-reused": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "idempotency-key-reused";
                };
            };
        };
        "429.rate-limited": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "rate-limited";
                };
            };
        };
        "429.too-many-checks.rate-limited": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "too-many-checks" | "rate-limited";
                };
            };
        };
        "429.too-many-listeners.rate-limited": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "too-many-listeners" | "rate-limited";
                };
            };
        };
        "500.internal": {
            headers: {
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "internal";
                };
            };
        };
        "500.internal.public": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "internal";
                };
            };
        };
        "503.check-unfinished.service-unavailable": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "check-unfinished" | "service-unavailable";
                };
            };
        };
        "503.platform-unavailable.service-unavailable": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "platform-unavailable" | "service-unavailable";
                };
            };
        };
        "503.service-unavailable": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    code?: "service-unavailable";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        "Idempotent-Replayed": "true";
        RateLimit: string;
        "RateLimit-Policy": string;
        "Retry-After": number;
        "WWW-Authenticate": string;
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listSubscriptions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    Link?: string;
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"][];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    createSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSubscription"];
            };
        };
        responses: {
            201: {
                headers: {
                    Location?: string;
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSubscription"];
                };
            };
            400: components["responses"]["400.invalid-webhook-url.unknown-event-type.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            409: components["responses"]["409.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    deleteSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    changeSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            400: components["responses"]["400.invalid-webhook-url.unknown-event-type.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    rotateSubscriptionSecret: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedSecret"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found.replayed"];
            409: components["responses"]["409.too-many-secrets.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listEventTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypes"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    testSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Trial"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestDelivery"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found.replayed"];
            409: components["responses"]["409.subscription-disabled.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    checkReceiver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Trial"];
            };
        };
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiverReport"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found"];
            409: components["responses"]["409.subscription-disabled.check-running.secret-unavailable"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            429: components["responses"]["429.too-many-checks.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.check-unfinished.service-unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                state?: "pending" | "waiting" | "acknowledged" | "parked" | "withdrawn" | "any";
                from?: string;
                to?: string;
                eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
                eventId?: string;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.delivery-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.delivery-not-found.replayed"];
            409: components["responses"]["409.delivery-not-parked.delivery-without-body.subscription-disabled.subscription-deleted.idempotency-key-in-use.replayed"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listTenantDeliveries: {
        parameters: {
            query?: {
                state?: "pending" | "waiting" | "acknowledged" | "parked" | "withdrawn" | "any";
                from?: string;
                to?: string;
                eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
                parkedReason?: "exhausted" | "rejected";
                outcome?: "delivered" | "answered" | "timeout" | "dns" | "refused" | "tls" | "reset" | "network" | "malformed" | "blocked" | "unusable-url";
                status?: number;
                subscriptionId?: string;
                callId?: string;
                agentUri?: string;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                callId?: string;
                agentUri?: string;
                correlationId?: string;
                number?: string;
                eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
                from?: string;
                to?: string;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    explainEvent: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainedEvent"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.event-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    deliverEvent: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                eventId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventDeliveryRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDelivery"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.event-not-found.subscription-not-found.delivery-not-found.replayed"];
            409: components["responses"]["409.subscription-disabled.subscription-deleted.delivery-not-parked.delivery-without-body.event-without-body.journal-off.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    recover: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRecovery"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCount"];
                };
            };
            202: {
                headers: {
                    Location?: string;
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found.replayed"];
            409: components["responses"]["409.recovery-in-progress.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    backfill: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBackfill"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCount"];
                };
            };
            202: {
                headers: {
                    Location?: string;
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found.replayed"];
            409: components["responses"]["409.recovery-in-progress.journal-off.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listRecoveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryList"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.subscription-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listAllRecoveries: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryPage"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readRecovery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                recoveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.recovery-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    cancelRecovery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                recoveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.recovery-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                eventType?: "call.status" | "agent.status" | "webhook.endpoint.failing" | "webhook.endpoint.recovered" | "webhook.delivery.parked" | "webhook.parked.limit";
                callId?: string;
                agentUri?: string;
                subscriptionId?: string;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            409: components["responses"]["409.journal-off"];
            429: components["responses"]["429.too-many-listeners.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readSummary: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Summary"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listParkedCauses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ParkedCauses"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readStatistics: {
        parameters: {
            query?: {
                subscriptionId?: string;
                from?: string;
                to?: string;
                step?: "1m" | "1h";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statistics"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPolicy"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    dial: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DialCommand"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandAccepted"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.missing-agent-uri.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found.replayed"];
            409: components["responses"]["409.agent-device-unavailable.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    answer: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LegCommand"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandAccepted"];
                };
            };
            400: components["responses"]["400.invalid-request.missing-agent-uri.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found.call-not-found.replayed"];
            409: components["responses"]["409.invalid-call-state.remote-answer-unsupported.agent-device-unavailable.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    hangup: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LegCommand"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandAccepted"];
                };
            };
            400: components["responses"]["400.invalid-request.missing-agent-uri.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found.call-not-found.replayed"];
            409: components["responses"]["409.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    hold: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LegCommand"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandAccepted"];
                };
            };
            400: components["responses"]["400.invalid-request.missing-agent-uri.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found.call-not-found.replayed"];
            409: components["responses"]["409.invalid-call-state.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    resume: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LegCommand"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandAccepted"];
                };
            };
            400: components["responses"]["400.invalid-request.missing-agent-uri.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found.call-not-found.replayed"];
            409: components["responses"]["409.invalid-call-state.agent-device-unavailable.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    transfer: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TransferCommand"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransferAccepted"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.missing-agent-uri.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found.call-not-found.replayed"];
            409: components["responses"]["409.invalid-call-state.transfer-in-progress.agent-device-unavailable.idempotency-key-in-use.replayed"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            422: components["responses"]["422.idempotency-key-reused"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    listCalls: {
        parameters: {
            query?: {
                live?: boolean;
                agentUri?: string;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallPage"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Call"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.call-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readAgentState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentUri: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentState"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readCallState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentUri: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallState"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    setPresence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentUri: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PresenceSetting"];
            };
        };
        responses: {
            202: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentState"];
                };
            };
            400: components["responses"]["400.invalid-request.unknown-status-code.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                from?: string;
                to?: string;
                action?: "subscription.created" | "subscription.changed" | "subscription.deleted" | "subscription.secret-rotated" | "subscription.tested" | "subscription.checked" | "delivery.redelivered" | "event.delivered" | "recovery.started" | "backfill.started" | "recovery.cancelled";
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            400: components["responses"]["400.invalid-request"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    readMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    simulateCall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulatedCall"];
            };
        };
        responses: {
            202: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SimulatedCallRinging"];
                };
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found"];
            409: components["responses"]["409.agent-device-unavailable"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.service-unavailable"];
        };
    };
    simulateRemote: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoteAction"];
            };
        };
        responses: {
            202: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.call-not-found"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    simulateDevice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agentUri: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulatedDevice"];
            };
        };
        responses: {
            202: {
                headers: {
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400.invalid-request.malformed-json"];
            401: components["responses"]["401.unauthorized"];
            403: components["responses"]["403.forbidden"];
            404: components["responses"]["404.agent-not-found"];
            413: components["responses"]["413.body-too-large"];
            415: components["responses"]["415.unsupported-media-type"];
            429: components["responses"]["429.rate-limited"];
            500: components["responses"]["500.internal"];
            503: components["responses"]["503.platform-unavailable.service-unavailable"];
        };
    };
    readDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            500: components["responses"]["500.internal.public"];
        };
    };
    readEventsDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            500: components["responses"]["500.internal.public"];
        };
    };
    receiveDelivery: {
        parameters: {
            query?: never;
            header: {
                "X-SVC-Event": string;
                "X-SVC-Event-Id": string;
                "X-SVC-Delivery": string;
                "X-SVC-Attempt": number;
                "X-SVC-Test"?: "true";
                "webhook-id"?: string;
                "webhook-timestamp"?: number;
                "webhook-signature"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json; charset=utf-8": components["schemas"]["DeliveryEnvelope"];
            };
        };
        responses: {
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            425: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "3XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            "5XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
