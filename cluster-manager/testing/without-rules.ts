/** Objects that an API server took before its definitions had rules. */
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../kube/resources.ts';
import type { TestCluster } from './harness.ts';

/** A definition without rules, as long as `make` runs. */
export const withoutRules = async (
  { client }: Pick<TestCluster, 'client'>,
  name: string,
  make: () => Promise<void>,
): Promise<void> => {
  const strict = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name });
  const loose = JSON.parse(
    JSON.stringify(strict, (key, value) => (key === 'x-kubernetes-validations' ? undefined : value)),
  );
  await client.update(CUSTOM_RESOURCE_DEFINITIONS, loose);
  await make();
  const { metadata } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name });
  await client.update(CUSTOM_RESOURCE_DEFINITIONS, {
    ...strict,
    metadata: { ...strict.metadata, resourceVersion: metadata.resourceVersion ?? '' },
  });
};
