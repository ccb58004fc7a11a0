/**
 * EgressFirewall, `k8s.ovn.org/v1`: what pods of a namespace may send to out of the cluster. Fields, names and limits are those of the field
 * (ovn-kubernetes, `go-controller/pkg/crd/egressfirewall/v1`), so that existing objects apply unchanged.
 */
import { z } from 'zod';
import { messageOf } from '../base/error-message.ts';
import { isWildcardName } from '../net/domain-name.ts';
import type { AdminPeer, AdminPolicy, AdminPort, AdminRule } from './admin-policy/types.ts';
import { ApiError } from './errors.ts';
import { labelSelectorSchema } from './label-selector.ts';
import { strictSelectorSchema } from './network-policy.ts';
import { describeRef, metadataSchema, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { type NameReading, NO_WILDCARDS, readPolicyName } from './policy-names.ts';
import { maskedCidrSchema } from './scalars.ts';

/** A namespace has one. */
export const EGRESS_FIREWALL_NAME = 'default';
/** As the field has it: rule indexes end there. */
export const MAX_FIREWALL_RULES = 8000;
/** Ours: of a rule. */
export const MAX_FIREWALL_PORTS = 256;
/** Ours: in all rules, those without ports counting one. They bound the ACLs that a namespace can have a node program. */
export const MAX_FIREWALL_MATCHES = 16_384;

/** Ours: each is two questions to a DNS server, again and again. */
export const MAX_FIREWALL_NAMES = 256;

/** Ours: each has address sets of all nodes that it selects, on every node of the namespace's pods. */
export const MAX_FIREWALL_NODE_RULES = 64;

const DNS_NAME = /^(\*\.)?([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+\.?$/;

const portSchema = z
  .object({
    protocol: z.enum(['TCP', 'UDP', 'SCTP']).meta({ description: 'TCP, UDP or SCTP.' }),
    port: z.int().min(1).max(65_535).meta({ description: 'Destination port.', format: 'int32' }),
  })
  .meta({ description: 'One port of one protocol.' });

const destinationSchema = z
  .object({
    cidrSelector: z.string().optional().meta({ description: 'Addresses, as a CIDR of either family.' }),
    dnsName: z
      .string()
      .regex(DNS_NAME)
      .optional()
      .meta({ description: 'Addresses that a domain name has; in *.example.com the star is one label.' }),
    nodeSelector: labelSelectorSchema
      .optional()
      .meta({ description: 'Addresses of the nodes with these labels; {} selects all nodes.' }),
  })
  .meta({
    description: 'Exactly one of cidrSelector, dnsName and nodeSelector.',
    minProperties: 1,
    maxProperties: 1,
  });

const ruleSchema = z
  .object({
    type: z.enum(['Allow', 'Deny']).meta({ description: 'Allow or Deny.' }),
    ports: z.array(portSchema).max(MAX_FIREWALL_PORTS).optional().meta({
      description: 'What the rule is about; without ports it is about all traffic.',
      'x-kubernetes-list-type': 'atomic',
    }),
    to: destinationSchema,
  })
  .meta({ description: 'Of the rules, the first that matches decides.' });

export const firewallSpecSchema = z
  .object({
    egress: z.array(ruleSchema).max(MAX_FIREWALL_RULES).meta({
      description: 'In their order. What matches none of them is allowed.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .meta({ description: 'What pods of the namespace may send to out of the cluster.' });

export const firewallStatusSchema = z
  .object({
    status: z.string().optional().meta({ description: 'EgressFirewall Rules applied, or what fails.' }),
    messages: z
      .array(z.string())
      .optional()
      .meta({ description: 'What each node reports, as NODE: message.', 'x-kubernetes-list-type': 'set' }),
  })
  .meta({ description: 'What nodes have of it.' });

export type FirewallStatus = z.output<typeof firewallStatusSchema>;

/**
 * A spec that cannot be read denies all: `findings` say so.
 * @throws ApiError where it is no namespace's firewall, as it has another name
 */
export const parseEgressFirewall = (value: unknown, reading = NO_WILDCARDS): AdminPolicy => {
  const { metadata } = parseWith(headSchema, value, describeRef(refOf('EgressFirewall', value)));
  const { namespace, name, uid, generation = 0 } = metadata;
  return {
    ...{
      kind: 'EgressFirewall',
      name: `${namespace}/${name}`,
      namespace,
      uid,
      generation,
      tier: 'firewall',
      priority: 0,
    },
    ...{ subject: { pods: {} }, ingress: [], ...egressOf(value, reading) },
  };
};

const headSchema = z.object({
  metadata: metadataSchema.extend({
    namespace: z.string().min(1),
    name: z.literal(EGRESS_FIREWALL_NAME, {
      error: `must be "${EGRESS_FIREWALL_NAME}": a namespace has one EgressFirewall`,
    }),
  }),
});

const egressOf = (value: unknown, reading: NameReading): Pick<AdminPolicy, 'egress' | 'findings'> => {
  try {
    const findings: string[] = [];
    const { spec } = parseWith(bodySchema, value, '');
    const matches = spec.egress.reduce((sum, { ports }) => sum + Math.max(1, ports.length), 0);
    if (matches > MAX_FIREWALL_MATCHES)
      throw new ApiError(
        'ERR_API_RULE',
        `spec.egress: has ${matches} rules and ports, more than ${MAX_FIREWALL_MATCHES}`,
      );
    const names = new Set(spec.egress.flatMap(({ to }) => to.dnsName ?? [])).size;
    if (names > MAX_FIREWALL_NAMES)
      throw new ApiError('ERR_API_RULE', `spec.egress: has ${names} domain names, more than ${MAX_FIREWALL_NAMES}`);
    const nodeRules = spec.egress.filter(({ to }) => to.nodeSelector !== undefined).length;
    if (nodeRules > MAX_FIREWALL_NODE_RULES)
      throw new ApiError(
        'ERR_API_RULE',
        `spec.egress: has ${nodeRules} rules with nodeSelector, more than ${MAX_FIREWALL_NODE_RULES}`,
      );
    return { egress: spec.egress.map((rule, index) => ruleOf(rule, index, { ...reading, findings })), findings };
  } catch (error) {
    return { egress: [CLOSED], findings: [`${messageOf(error)}; all that leaves the cluster is denied`] };
  }
};

const CLOSED: AdminRule = { action: 'deny', peers: [{ kind: 'any' }], ports: [] };

const readDestination = z
  .strictObject({
    cidrSelector: maskedCidrSchema.optional(),
    dnsName: z.string().max(254).regex(DNS_NAME).optional(),
    nodeSelector: strictSelectorSchema.optional(),
  })
  .refine((to) => Object.values(to).filter((one) => one !== undefined).length === 1, {
    error: 'must have exactly one of cidrSelector, dnsName, nodeSelector',
  });

/** As strict as a definition is that nobody has edited: a field that is not known may narrow what the rest allows. */
const readRule = z.strictObject({
  type: z.enum(['Allow', 'Deny']),
  ports: z
    .array(z.strictObject({ protocol: z.enum(['TCP', 'UDP', 'SCTP']), port: z.int().min(1).max(65_535) }))
    .max(MAX_FIREWALL_PORTS)
    .nullish()
    .transform((ports) => ports ?? []),
  to: readDestination,
});

const bodySchema = z.object({
  spec: z.strictObject({ egress: z.array(readRule).max(MAX_FIREWALL_RULES) }),
});

type ReadRule = z.output<typeof readRule>;

interface Reading extends NameReading {
  readonly findings: string[];
}

const ruleOf = ({ type, ports, to }: ReadRule, index: number, { findings, ...reading }: Reading): AdminRule => {
  const action = type === 'Allow' ? 'allow' : 'deny';
  const refuse = (why: string): AdminPeer[] => {
    findings.push(
      `spec.egress[${index}].to.dnsName: ${why}; the rule ${action === 'allow' ? 'allows nothing' : 'denies everything'}`,
    );
    return action === 'allow' ? [] : [{ kind: 'any' }];
  };
  return { action, peers: peersOf(to, action, reading, refuse), ports: ports.map(portOf) };
};

const peersOf = (
  { cidrSelector, nodeSelector, dnsName = '' }: ReadRule['to'],
  action: 'allow' | 'deny',
  reading: NameReading,
  refuse: (why: string) => AdminPeer[],
): AdminPeer[] => {
  if (cidrSelector !== undefined) return [{ kind: 'networks', blocks: [cidrSelector] }];
  if (nodeSelector !== undefined) return [{ kind: 'nodes', nodes: nodeSelector }];
  try {
    const name = readPolicyName(dnsName, reading);
    // A pod may have an address before anybody else knows it: what denies by those that are known lets its first packets out.
    if (action === 'deny' && isWildcardName(name)) return refuse(`"${dnsName}" ${NEVER_WHOLE}`);
    return [{ kind: 'domains', names: [name] }];
  } catch (error) {
    return refuse(messageOf(error));
  }
};

const NEVER_WHOLE = 'is a wildcard, whose addresses are never all known: deny by names, or allow what may be reached';

const portOf = ({ protocol, port }: ReadRule['ports'][number]): AdminPort => ({
  ...{ kind: 'number', protocol: PROTOCOLS[protocol], port },
});

const PROTOCOLS = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const;
