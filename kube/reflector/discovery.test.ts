import { describe, expect, it } from 'vitest';
import { KubeError } from '../errors.ts';
import { isListed } from './discovery.ts';

const FIREWALLS = { group: 'k8s.ovn.org', version: 'v1', plural: 'egressfirewalls' };
const GROUPS = { kind: 'APIGroupList', groups: [{ name: FIREWALLS.group, versions: [{ version: 'v1' }] }] };
const forbidden = (reason?: string) => new KubeError('ERR_KUBE_STATUS', 'GET: no (403)', { status: 403, reason });

const asked = (answers: Readonly<Record<string, unknown>>): Promise<boolean> => {
  const request = ({ path }: { path: string }): Promise<unknown> => {
    const answer = answers[path];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return isListed({ request } as Parameters<typeof isListed>[0], FIREWALLS);
};

describe('a kind', () => {
  it('is not served where the lists lack it, or the API server forbids them', async () => {
    expect(await asked({ '/apis': { ...GROUPS, groups: [] } })).toBe(false);
    const resources = { kind: 'APIResourceList', resources: [] };
    expect(await asked({ '/apis': GROUPS, '/apis/k8s.ovn.org/v1': resources })).toBe(false);
    expect(await asked({ '/apis': forbidden('Forbidden') })).toBe(false);
  });

  it('may be served where a proxy forbids the lists, or one of them is forbidden when another was not', async () => {
    await expect(asked({ '/apis': forbidden() })).rejects.toThrow('403');
    await expect(asked({ '/apis': GROUPS, '/apis/k8s.ovn.org/v1': forbidden('Forbidden') })).rejects.toThrow('403');
  });
});
