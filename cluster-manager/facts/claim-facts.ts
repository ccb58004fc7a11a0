/** What the cluster manager keeps of an IPAMClaim. */
import { z } from 'zod';
import type { Condition } from '../../api/condition.ts';
import { ApiError } from '../../api/errors.ts';
import { type IpamClaim, parseIpamClaim } from '../../api/ipam-claim.ts';
import { metadataSchema } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import { interfaceAddressSchema } from '../../api/scalars.ts';
import type { InterfaceAddress } from '../../net/cidr.ts';

export interface ClaimFacts {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly creationTimestamp: string;
  readonly generation: number | undefined;
  readonly isLeaving: boolean;
  readonly finalizers: readonly string[];
  /** Of an object that is wrong what can be read, as long as it has addresses; else undefined. */
  readonly claim: Claim | undefined;
  readonly error: ApiError | undefined;
}

export interface Claim {
  readonly network: string;
  /** What it asks for. */
  readonly requests: readonly InterfaceAddress[];
  /** What its status says that it has. */
  readonly addresses: readonly InterfaceAddress[];
  readonly ownerPod: string | undefined;
  readonly conditions: readonly Condition[];
}

export const claimFacts = (object: unknown): ClaimFacts => {
  const { metadata } = parseWith(baseSchema, object, 'IPAMClaim');
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid ?? '',
    creationTimestamp: metadata.creationTimestamp ?? '',
    generation: metadata.generation,
    isLeaving: metadata.deletionTimestamp != null,
    finalizers: metadata.finalizers,
    ...readClaim(object),
  };
};

const baseSchema = z.object({ metadata: metadataSchema.extend({ namespace: z.string() }) });

const toClaim = ({ spec, status }: IpamClaim): Claim => ({
  network: spec.network,
  requests: spec.ipRequests ?? [],
  addresses: status?.ips ?? [],
  ownerPod: status?.ownerPod?.name,
  conditions: status?.conditions ?? [],
});

const readClaim = (object: unknown): Pick<ClaimFacts, 'claim' | 'error'> => {
  try {
    return { claim: toClaim(parseIpamClaim(object)), error: undefined };
  } catch (error) {
    if (error instanceof ApiError) return { claim: readableClaim(object), error };
    throw error;
  }
};

/** Of one that is wrong somewhere: its addresses are its own all the same. Undefined when it has none that can be read. */
const readableClaim = (object: unknown): Claim | undefined => {
  const { spec, status } = looseSchema.parse(object);
  const addresses = status.ips.flatMap((ip) => interfaceAddressSchema.safeParse(ip).data ?? []);
  if (spec.network === undefined || addresses.length === 0) return undefined;
  return { network: spec.network, requests: [], addresses, ownerPod: status.ownerPod?.name, conditions: [] };
};

const looseSchema = z.object({
  spec: z.object({ network: z.string().optional() }).catch({}),
  status: z
    .object({
      ips: z.array(z.unknown()).catch([]),
      ownerPod: z.object({ name: z.string() }).optional().catch(undefined),
    })
    .catch({ ips: [] }),
});
