import { expect, it } from 'vitest';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../../kube/types.ts';
import { checkForeignPlugins } from './foreign-plugins.ts';

/** @param args of the agents; undefined: there are none */
const cluster = (args: readonly string[] | undefined): KubeClient =>
  ({
    get: () =>
      args === undefined
        ? Promise.reject(new KubeError('ERR_KUBE_STATUS', 'no udn-agent', { status: 404, reason: 'NotFound' }))
        : Promise.resolve({ spec: { template: { spec: { containers: [{ args }] } } } } as unknown as KubeObject),
  }) as unknown as KubeClient;

const found = async (args: readonly string[] | undefined, ...programs: readonly string[]): Promise<string[]> => {
  const node = { isProgram: (path: string) => programs.includes(path) };
  const findings = await checkForeignPlugins(cluster(args), 'ovn-udn', node);
  return findings.map(({ result, message }) => `${result}: ${message}`);
};

it.each([
  ['there are no agents', undefined],
  ['they run no plugins', []],
  ['they are told so', ['--foreign-plugins=none']],
])('says nothing where %s', async (_, args) => {
  expect(await found(args)).toEqual([]);
});

it('names the programs that the node lacks, each once', async () => {
  const args = ['--foreign-plugins=bridge,infra/macvlan,red/macvlan,host-local'];
  expect(await found(args, '/opt/cni/bin/bridge')).toEqual([
    "warning: not in /opt/cni/bin, or no program: macvlan, host-local; pods that need one do not start, unless the runtime's CNI_PATH has it in another folder",
  ]);
});

it('looks where the agents have their own', async () => {
  const args = ['--foreign-plugins=bridge', '--cni-bin-dir=/usr/libexec/cni'];
  expect(await found(args, '/usr/libexec/cni/bridge')).toEqual([]);
  expect(await found(args, '/opt/cni/bin/bridge')).toHaveLength(1);
});

it('says what it cannot read', async () => {
  expect(await found(['--foreign-plugins=../sh'])).toEqual(['unknown: "../sh" is not [NAMESPACE/]PLUGIN']);
});
