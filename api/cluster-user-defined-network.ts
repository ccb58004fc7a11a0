/** ClusterUserDefinedNetwork, `k8s.ovn.org/v1`: one network for all namespaces that it selects. */
import { z } from 'zod';
import { ATOMIC } from './crd-fields.ts';
import { labelSelectorSchema } from './label-selector.ts';
import { layer3Schema } from './layer3-config.ts';
import { localnetSchema } from './localnet-config.ts';
import { describeRef, metadataSchema, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { immutableField, onUpdate, type Rule, withRules } from './rules.ts';
import { evpnSchema, noOverlaySchema } from './transport-config.ts';
import { layer2Field, topologyBlockRule, topologyImmutable } from './user-defined-network.ts';

/** @throws ApiError */
export const parseClusterUserDefinedNetwork = (value: unknown): ClusterUserDefinedNetwork =>
  parseWith(cudnSchema, value, describeRef(refOf('ClusterUserDefinedNetwork', value)));

interface RoleOf {
  readonly role: string;
}

interface NetworkSpec {
  readonly topology: string;
  readonly layer2?: RoleOf | undefined;
  readonly layer3?: RoleOf | undefined;
  readonly localnet?: unknown;
  readonly transport?: string | undefined;
  readonly noOverlay?: unknown;
  readonly evpn?: { readonly macVRF?: unknown; readonly ipVRF?: unknown } | undefined;
}

const isPrimary = ({ topology, layer2, layer3 }: NetworkSpec): boolean =>
  (topology === 'Layer2' && layer2?.role === 'Primary') || (topology === 'Layer3' && layer3?.role === 'Primary');

const CEL_PRIMARY_L3 = "(self.topology == 'Layer3' && has(self.layer3) && self.layer3.role == 'Primary')";
const CEL_PRIMARY_L2 = "(self.topology == 'Layer2' && has(self.layer2) && self.layer2.role == 'Primary')";

const noOverlayRules: readonly Rule<NetworkSpec>[] = [
  {
    cel: `!has(self.transport) || self.transport != 'NoOverlay' || ${CEL_PRIMARY_L3}`,
    message: "transport 'NoOverlay' is only supported for Layer3 primary networks",
    holds: (spec) => spec.transport !== 'NoOverlay' || (spec.topology === 'Layer3' && isPrimary(spec)),
    at: ['transport'],
  },
  {
    cel: "!has(self.transport) || self.transport != 'NoOverlay' || has(self.noOverlay)",
    message: "spec.noOverlay is required when type transport is 'NoOverlay'",
    holds: ({ transport, noOverlay }) => transport !== 'NoOverlay' || noOverlay !== undefined,
    at: ['noOverlay'],
  },
  {
    cel: "!has(self.noOverlay) || (has(self.transport) && self.transport == 'NoOverlay')",
    message: "spec.noOverlay is forbidden when transport type is not 'NoOverlay'",
    holds: ({ transport, noOverlay }) => noOverlay === undefined || transport === 'NoOverlay',
    at: ['noOverlay'],
  },
];

const evpnRules: readonly Rule<NetworkSpec>[] = [
  {
    cel: `!has(self.transport) || self.transport != 'EVPN' || ${CEL_PRIMARY_L3} || ${CEL_PRIMARY_L2}`,
    message: "transport 'EVPN' is only supported for Layer2 or Layer3 primary networks",
    holds: (spec) => spec.transport !== 'EVPN' || isPrimary(spec),
    at: ['transport'],
  },
  {
    cel: "!has(self.transport) || self.transport != 'EVPN' || has(self.evpn)",
    message: "spec.evpn field is required when transport is 'EVPN'",
    holds: ({ transport, evpn }) => transport !== 'EVPN' || evpn !== undefined,
    at: ['evpn'],
  },
  {
    cel: "!has(self.evpn) || (has(self.transport) && self.transport == 'EVPN')",
    message: "spec.evpn field is forbidden when transport is not 'EVPN'",
    holds: ({ transport, evpn }) => evpn === undefined || transport === 'EVPN',
    at: ['evpn'],
  },
  {
    cel: "!has(self.evpn) || self.topology != 'Layer2' || has(self.evpn.macVRF)",
    message: "spec.evpn.macVRF field is required for Layer2 topology when transport is 'EVPN'",
    holds: ({ evpn, topology }) => evpn === undefined || topology !== 'Layer2' || evpn.macVRF !== undefined,
    at: ['evpn', 'macVRF'],
  },
  {
    cel: "!has(self.evpn) || self.topology != 'Layer3' || has(self.evpn.ipVRF)",
    message: "spec.evpn.ipVRF field is required for Layer3 topology when transport is 'EVPN'",
    holds: ({ evpn, topology }) => evpn === undefined || topology !== 'Layer3' || evpn.ipVRF !== undefined,
    at: ['evpn', 'ipVRF'],
  },
  {
    cel: "!has(self.evpn) || self.topology != 'Layer3' || !has(self.evpn.macVRF)",
    message: "spec.evpn.macVRF field is forbidden for Layer3 topology when transport is 'EVPN'",
    holds: ({ evpn, topology }) => topology !== 'Layer3' || evpn?.macVRF === undefined,
    at: ['evpn', 'macVRF'],
  },
];

const networkSchema = withRules(
  z.object({
    topology: z.enum(['Layer2', 'Layer3', 'Localnet']).meta({
      description:
        'Layer2: one broadcast domain over all nodes. Layer3: a subnet per node, routed between them. Localnet: a physical network.',
    }),
    layer3: layer3Schema.optional(),
    layer2: layer2Field.optional(),
    localnet: withRules(localnetSchema, [onUpdate('self == oldSelf', 'Localnet is immutable')]).optional(),
    transport: z
      .enum(['NoOverlay', 'EVPN'])
      .optional()
      .meta({ description: 'How packets cross between nodes. Absent: Geneve.' }),
    noOverlay: noOverlaySchema.optional(),
    evpn: evpnSchema.optional(),
  }),
  [
    topologyBlockRule('Layer3', 'layer3'),
    topologyBlockRule('Layer2', 'layer2'),
    topologyBlockRule('Localnet', 'localnet'),
    topologyImmutable,
    ...noOverlayRules,
    ...evpnRules,
    immutableField('transport', 'Transport is immutable'),
    immutableField('noOverlay', 'NoOverlay is immutable'),
  ],
  { description: 'The desired network.' },
);

interface Spec {
  readonly network: NetworkSpec;
  readonly uplinks?: readonly string[] | undefined;
}

const hasUplinks = ({ uplinks = [] }: Spec): boolean => uplinks.length > 0;
const CEL_NO_UPLINKS = '!has(self.uplinks) || size(self.uplinks) == 0';

const uplinkRules: readonly Rule<Spec>[] = [
  {
    cel: `${CEL_NO_UPLINKS} || (self.network.topology == 'Layer3' && has(self.network.layer3) && self.network.layer3.role == 'Primary') || (self.network.topology == 'Layer2' && has(self.network.layer2) && self.network.layer2.role == 'Primary')`,
    message: 'spec.uplinks is supported only for primary Layer2 and Layer3 networks',
    holds: (spec) => !hasUplinks(spec) || isPrimary(spec.network),
    at: ['uplinks'],
  },
  {
    cel: `${CEL_NO_UPLINKS} || !has(self.network.transport) || self.network.transport != 'EVPN'`,
    message: 'spec.uplinks is not supported with EVPN transport',
    holds: (spec) => !hasUplinks(spec) || spec.network.transport !== 'EVPN',
    at: ['uplinks'],
  },
];

export const cudnSpecSchema = withRules(
  z.object({
    namespaceSelector: labelSelectorSchema.meta({
      ...labelSelectorSchema.meta(),
      description: 'The namespaces that share the network.',
    }),
    network: networkSchema,
    uplinks: z
      .array(
        z
          .string()
          .max(253)
          .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/),
      )
      .max(1)
      .optional()
      .meta({ description: 'Uplink with the gateway bridge of the network. Absent: that of the node.', ...ATOMIC }),
  }),
  [...uplinkRules, immutableField('uplinks')],
  { description: 'The desired network and the namespaces that share it.' },
);

const cudnSchema = z.object({
  metadata: metadataSchema,
  spec: cudnSpecSchema,
});

export type ClusterUserDefinedNetwork = z.output<typeof cudnSchema>;
export type ClusterUserDefinedNetworkSpec = ClusterUserDefinedNetwork['spec'];
