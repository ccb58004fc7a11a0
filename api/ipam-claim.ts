/**
 * IPAMClaim, `k8s.cni.cncf.io/v1alpha1`: addresses that outlive the pods that have them, as the Network Plumbing Working
 * Group defines it. The claim, and not a pod, owns the addresses in its status.
 */
import { z } from 'zod';
import { conditionSchema } from './condition.ts';
import { ATOMIC, addressField, dualAddresses } from './crd-fields.ts';
import { describeRef, metadataSchema, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { onUpdate, withRules } from './rules.ts';

/** @throws ApiError */
export const parseIpamClaim = (value: unknown): IpamClaim =>
  parseWith(ipamClaimSchema, value, describeRef(refOf('IPAMClaim', value)));

export const ipamClaimSpecSchema = z
  .object({
    network: withRules(z.string(), [onUpdate('self == oldSelf', 'Network is immutable')], {
      description: 'Name of the network that the addresses are of, for example ns_blue or cluster_udn_blue.',
    }),
    interface: withRules(z.string(), [onUpdate('self == oldSelf', 'Interface is immutable')], {
      description: 'Name of the interface in the pods.',
    }),
    ipRequests: dualAddresses('Addresses that the claim asks for, with their prefix lengths.', [
      onUpdate('self == oldSelf', 'IPRequests are immutable'),
    ]).optional(),
  })
  .meta({ description: 'What is claimed.' });

export const ipamClaimStatusSchema = z
  .object({
    ips: z
      .array(addressField)
      .max(2)
      .meta({ description: 'The addresses that the claim owns, with their prefix lengths.', ...ATOMIC }),
    ownerPod: z
      .object({ name: z.string().meta({ description: 'Its name.' }) })
      .optional()
      .meta({ description: 'The pod that has the addresses now.' }),
    conditions: z
      .array(conditionSchema)
      .optional()
      .meta({
        description: 'IPsAllocated: whether it has addresses, and if not, why.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
  })
  .meta({ description: 'What was allocated to the claim.' });

const ipamClaimSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  spec: ipamClaimSpecSchema,
  status: ipamClaimStatusSchema.nullish(),
});

export type IpamClaim = z.output<typeof ipamClaimSchema>;
