import type { KubernetesObject, Labels } from '@switchhook/chart'
import ipaddr from 'ipaddr.js'
import { matches } from './workloads.ts'

interface Selector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values: readonly string[]
  }[]
}

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
  readonly podSelector?: Selector
  readonly namespaceSelector?: Selector
}

interface Rule {
  readonly from?: readonly Peer[]
  readonly to?: readonly Peer[]
  readonly ports?: readonly { readonly protocol: string; readonly port?: number }[]
}

interface PolicySpec {
  readonly podSelector: Selector
  readonly policyTypes: readonly string[]
  readonly ingress?: readonly Rule[]
  readonly egress?: readonly Rule[]
}

/** A pod in the namespace of the release, or in the given one. */
export interface Pod {
  readonly labels: Labels
  readonly namespace?: string
}

const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  matches(matchLabels, labels) &&
  matchExpressions.every(({ key, operator, values }) => {
    if (operator !== 'In') throw new Error(`${operator} is not read here`)
    return values.includes(labels[key] ?? '')
  })

type Address = ReturnType<typeof ipaddr.parse>

const networks = new Map<string, ReturnType<typeof ipaddr.parseCIDR>>()

function isIn(address: Address, cidr: string): boolean {
  const parsed = networks.get(cidr) ?? ipaddr.parseCIDR(cidr)
  networks.set(cidr, parsed)
  const [network, bits] = parsed
  return address.kind() === network.kind() && address.match(network, bits)
}

const hasPort = ({ ports }: Rule, port: number, protocol: string): boolean =>
  ports === undefined || ports.some((one) => one.protocol === protocol && (one.port ?? port) === port)

const isPeer = ({ ipBlock, podSelector = {}, namespaceSelector }: Peer, pod: Pod): boolean => {
  if (ipBlock !== undefined) return false
  if (namespaceSelector === undefined) return pod.namespace === undefined && selects(podSelector, pod.labels)
  const name = { 'kubernetes.io/metadata.name': pod.namespace ?? 'switchhook' }
  return selects(namespaceSelector, name) && selects(podSelector, pod.labels)
}

/** Evaluates NetworkPolicies: a pod that any policy of a direction selects may do only what the rules allow. */
export function createNetwork(objects: readonly KubernetesObject[]) {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy').map((object) => object['spec'] as PolicySpec)

  function rulesFor(pod: Pod, direction: 'Ingress' | 'Egress'): readonly Rule[] | undefined {
    const own = policies.filter(
      ({ podSelector, policyTypes }) => policyTypes.includes(direction) && selects(podSelector, pod.labels),
    )
    if (own.length === 0) return undefined
    return own.flatMap(({ ingress = [], egress = [] }) => (direction === 'Ingress' ? ingress : egress))
  }

  return {
    /** From a pod to an address outside the cluster. */
    mayReachAddress: (from: Pod, address: string, port: number, protocol = 'TCP'): boolean => {
      const rules = rulesFor(from, 'Egress')
      if (rules === undefined) return true
      const parsed = ipaddr.parse(address)
      return rules.some(
        (rule) =>
          hasPort(rule, port, protocol) &&
          (rule.to === undefined ||
            rule.to.some(
              ({ ipBlock }) =>
                ipBlock !== undefined &&
                isIn(parsed, ipBlock.cidr) &&
                !ipBlock.except?.some((range) => isIn(parsed, range)),
            )),
      )
    },
    /** From pod to pod: needs egress at the one and ingress at the other. Egress of other namespaces is not checked. */
    mayReachPod: (from: Pod, to: Pod, port: number, protocol = 'TCP'): boolean => {
      const out = from.namespace === undefined ? rulesFor(from, 'Egress') : undefined
      const into = to.namespace === undefined ? rulesFor(to, 'Ingress') : undefined
      const allows = (rules: readonly Rule[] | undefined, side: 'to' | 'from', peer: Pod): boolean =>
        rules === undefined ||
        rules.some(
          (rule) =>
            hasPort(rule, port, protocol) && (rule[side] === undefined || rule[side].some((one) => isPeer(one, peer))),
        )
      return allows(out, 'to', to) && allows(into, 'from', from)
    },
  }
}
