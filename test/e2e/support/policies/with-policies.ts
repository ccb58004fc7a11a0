import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';

/** They are there while `work` goes on. */
export const withPolicies = async (
  sandbox: Sandbox,
  policies: readonly ManifestObject[],
  work: () => Promise<void>,
): Promise<void> => {
  const objects = await sandbox.objects();
  await objects.apply(policies);
  try {
    await work();
  } finally {
    await objects.delete(policies, { timeoutSeconds: 30 });
  }
};

/** Selectors that tests have often. */
export const EVERY = {} as const;
export const app = (name: string) => ({ matchLabels: { app: name } });
export const FRIENDS = { podSelector: { matchLabels: { role: 'friend' } } } as const;
export const DENY_ALL = { podSelector: EVERY, policyTypes: ['Ingress', 'Egress'] } as const;
