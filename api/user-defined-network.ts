/** UserDefinedNetwork, `k8s.ovn.org/v1`: a network of one namespace. */
import { z } from 'zod';
import { layer2Schema } from './layer2-config.ts';
import { layer3Schema } from './layer3-config.ts';
import { describeRef, metadataSchema, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { onUpdate, type Rule, withRules } from './rules.ts';

/** @throws ApiError */
export const parseUserDefinedNetwork = (value: unknown): UserDefinedNetwork =>
  parseWith(udnSchema, value, describeRef(refOf('UserDefinedNetwork', value)));

interface TopologyBlocks {
  readonly topology: string;
  readonly layer2?: unknown;
  readonly layer3?: unknown;
  readonly localnet?: unknown;
}

/** The configuration block of a topology is there exactly when the topology is. */
export const topologyBlockRule = (
  topology: 'Layer2' | 'Layer3' | 'Localnet',
  block: 'layer2' | 'layer3' | 'localnet',
): Rule<TopologyBlocks> => ({
  cel: `(self.topology == '${topology}') == has(self.${block})`,
  message: `spec.${block} is required when topology is ${topology} and forbidden otherwise`,
  holds: (spec) => (spec.topology === topology) === (spec[block] !== undefined),
  at: [block],
});

export const layer2Field = withRules(layer2Schema, [onUpdate('self == oldSelf', 'Layer2 is immutable')]);

export const topologyImmutable: Rule<unknown> = onUpdate('self.topology == oldSelf.topology', 'Topology is immutable', [
  'topology',
]);

export const udnSpecSchema = withRules(
  z.object({
    topology: z.enum(['Layer2', 'Layer3']).meta({
      description: 'Layer2: one broadcast domain over all nodes. Layer3: a subnet per node, routed between them.',
    }),
    layer3: layer3Schema.optional(),
    layer2: layer2Field.optional(),
  }),
  [topologyBlockRule('Layer3', 'layer3'), topologyBlockRule('Layer2', 'layer2'), topologyImmutable],
  { description: 'The desired network.' },
);

const udnSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  spec: udnSpecSchema,
});

export type UserDefinedNetwork = z.output<typeof udnSchema>;
