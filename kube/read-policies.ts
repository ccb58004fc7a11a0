/** The policies that nothing enforces, of all kinds that the API server has. */
import { type PolicyFacts, policyFacts, policyName, UNENFORCED_POLICIES } from '../api/policy.ts';
import { isForbidden, isNotFound } from './errors.ts';
import { listAll } from './reflector/list-all.ts';
import type { KubeClient } from './types.ts';

const PAGE_SIZE = 500;

interface PolicyOptions {
  /** Absent: all. */
  readonly namespace?: string | undefined;
  /** Kinds that the user may not list are passed over. */
  readonly asAllowed?: boolean;
}

/** @returns sorted by their names @throws KubeError */
export const readPolicies = async (
  client: Pick<KubeClient, 'list'>,
  { namespace, asAllowed = false }: PolicyOptions = {},
  signal?: AbortSignal,
): Promise<readonly PolicyFacts[]> => {
  const found = await Promise.all(
    UNENFORCED_POLICIES.map(async (resource) => {
      const policies: PolicyFacts[] = [];
      const selection = { pageSize: PAGE_SIZE, ...(resource.namespaced && namespace !== undefined && { namespace }) };
      try {
        await listAll(
          client,
          resource,
          selection,
          (object) => policies.push(policyFacts(object, resource)),
          () => policies.splice(0),
          signal,
        );
        return policies;
      } catch (error) {
        // Its definition is not installed: there are none.
        if (isNotFound(error) || (asAllowed && isForbidden(error))) return [];
        throw error;
      }
    }),
  );
  return found.flat().sort((a, b) => (policyName(a) < policyName(b) ? -1 : 1));
};
