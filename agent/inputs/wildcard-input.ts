/** DNSNameResolvers, as the API has them: those of one namespace, where wildcards of domain names are followed. */
import { DNS_NAME_RESOLVERS } from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { createReflector } from '../../kube/reflector/reflector.ts';
import type { Reflector, ReflectorObservation, ReflectorOptions } from '../../kube/reflector/types.ts';
import type { ResourceType } from '../../kube/types.ts';
import { readWildcard, type WildcardRecord } from '../dns/wildcard-record.ts';
import type { WildcardSource } from '../dns/wildcards.ts';

type Common = Omit<ReflectorOptions<WildcardRecord>, 'project' | 'optional'>;

export interface WildcardInput {
  readonly reflector: Reflector<WildcardRecord>;
  readonly source: WildcardSource;
}

/** @param namespace where the cluster manager creates them; whoever may write their status there says what wildcards stand for */
export const createWildcardInput = (namespace: string, common: (resource: ResourceType) => Common): WildcardInput => {
  const { observe, ...options } = common(DNS_NAME_RESOLVERS);
  let isServed = true;
  const follow = (observation: ReflectorObservation): void => {
    if (observation.kind === 'absent') isServed = false;
    if (observation.kind === 'listed') isServed = true;
    observe?.(observation);
  };
  const reflector = createReflector<WildcardRecord>({
    ...{ ...options, namespace, project: readWildcard, optional: true, observe: follow },
    timings: { absentMs: ABSENT_MS },
  });
  return {
    reflector,
    source: {
      namespace,
      records: reflector,
      isServed: () => isServed,
      unreadable: (key) => {
        const bad = reflector.bad.get(key);
        return bad && messageOf(bad.reason);
      },
      silenceMs: () => reflector.silenceMs(),
    },
  };
};

/** Whoever sets the option means to install the kind. */
const ABSENT_MS = 5_000;
