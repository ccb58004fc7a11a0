import { expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeObject } from '../../../kube/types.ts';
import { checkNetworks } from './networks.ts';

const report = (node: string, exceptions: readonly object[]): KubeObject => ({
  metadata: { name: node, uid: node, resourceVersion: '1' },
  status: {
    rendering: 'Always',
    networks: { ready: 1, pending: 0, failed: exceptions.length },
    ids: { ready: '1', pending: '', failed: '' },
    exceptions: exceptions.map((one) => ({ since: '2026-01-01T00:00:00Z', ...one })),
  },
});

const asked = (...pages: (readonly KubeObject[])[]) =>
  checkNetworks({
    list: (_, options) => {
      const at = Number(options?.continue ?? 0);
      const isLast = at + 1 >= pages.length;
      return Promise.resolve({
        items: [...(pages[at] ?? [])],
        resourceVersion: '1',
        ...(!isLast && { continue: `${at + 1}` }),
      });
    },
  });

const failing = (status: number) =>
  checkNetworks({ list: () => Promise.reject(new KubeError('ERR_KUBE_STATUS', 'you may not', { status })) });

it('names the nodes that cannot have a network, the default one too, and nothing that only waits', async () => {
  const tooLarge = { network: 'default', state: 'Failed', message: 'network default: its MTU is 1400' };
  const waiting = { network: 'red_net', state: 'Pending', message: 'a subnet' };
  expect(await asked([report('n1', [tooLarge, waiting])], [report('n2', []), report('n3', [tooLarge])])).toEqual([
    {
      result: 'failed',
      what: 'networks on nodes',
      message: 'node n1: network default: its MTU is 1400; node n3: network default: its MTU is 1400',
    },
  ]);
});

it('names the first of many', async () => {
  const many = Array.from({ length: 7 }, (_, index) => ({ network: `n${index}`, state: 'Failed', message: 'x' }));
  const [finding] = await asked([report('n1', many)]);
  expect(finding?.message).toMatch(/n4: x; and 2 more$/);
});

it('is silent where all is well, and says what cannot be read', async () => {
  expect(await asked([report('n1', [])])).toEqual([]);
  expect(await failing(404)).toEqual([]);
  expect(await failing(403)).toEqual([{ result: 'unknown', what: 'networks on nodes', message: 'you may not' }]);
});
