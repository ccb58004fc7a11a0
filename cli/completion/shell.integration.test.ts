/** Completion and the plugin as people meet them: bash, kubectl, an API server. */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { crdFiles } from '../../api/crd/crds.ts';
import { CLUSTER_USER_DEFINED_NETWORKS, USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { cudn, layer2Udn, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { startEmbeddedServer } from '../../kube/embedded/server.ts';
import type { EmbeddedServer } from '../../kube/embedded/types.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, PODS, SERVICES } from '../../kube/resources.ts';
import { ensureTree, treeCommand } from '../../sandbox/tree/tree.ts';

const ROOT = join(import.meta.dirname, '..', '..');

let server: EmbeddedServer;
let folder: string;
let env: NodeJS.ProcessEnv;
let kubectl: { readonly file: string; readonly args: readonly string[] };

beforeAll(async () => {
  server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }] });
  const client = server.cluster.client();
  for (const text of Object.values(crdFiles())) await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text));
  await server.cluster.settled();
  await client.create(NAMESPACES, tenant('red'));
  await client.create(USER_DEFINED_NETWORKS, layer2Udn('red/net', ['10.1.0.0/16']));
  const layer2 = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.2.0.0/16'] } };
  await client.create(CLUSTER_USER_DEFINED_NETWORKS, cudn('shop', { matchLabels: { a: 'b' } }, layer2));
  for (const name of ['web-1', 'web-2']) await client.create(PODS, pod(`red/${name}`));
  const spec = { clusterIP: 'None', ports: [{ port: 80 }] };
  await client.create(SERVICES, { metadata: { namespace: 'red', name: 'shop' }, spec });
  folder = await mkdtemp(join(tmpdir(), 'udnctl-shell-'));
  await writeFile(join(folder, 'config'), inRed(server.kubeconfig()));
  await installPrograms(join(folder, 'bin'));
  env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder, KUBECONFIG: join(folder, 'config') };
  await writeFile(join(folder, 'script.bash'), (await run('udnctl', ['completion', 'bash'])).stdout);
  kubectl = treeCommand(await ensureTree(() => {}), 'usr/bin/kubectl');
}, 180_000);

afterAll(async () => {
  await server?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Two contexts; the current one's namespace is `red`. */
const inRed = (kubeconfig: string): string => {
  const config = parse(kubeconfig);
  const [{ context }] = config.contexts;
  const contexts = [
    { name: 'here', context: { ...context, namespace: 'red' } },
    { name: 'elsewhere', context: { ...context, namespace: 'blue' } },
  ];
  return stringify({ ...config, contexts, 'current-context': 'here' });
};

/** The scripts of bin/, and a bundle of these sources: who types waits for its start. */
const installPrograms = async (bin: string): Promise<void> => {
  await mkdir(bin);
  const bundle = join(bin, 'udnctl.mjs');
  await build({
    entryPoints: [join(ROOT, 'cli', 'main.ts')],
    outfile: bundle,
    ...({ bundle: true, platform: 'node', target: 'node24', format: 'esm', logLevel: 'error' } as const),
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
  });
  await writeFile(join(bin, 'udnctl'), `#!/bin/sh\nexec ${process.execPath} ${bundle} "$@"\n`);
  await chmod(join(bin, 'udnctl'), 0o755);
  for (const name of ['kubectl-udn', 'kubectl_complete-udn']) await copyFile(join(ROOT, 'bin', name), join(bin, name));
};

const run = (file: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(file, [...args], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
const runKubectl = (...args: string[]) => run(kubectl.file, [...kubectl.args, ...args]);

/** What bash would suggest. @param words of the command line; the last one is being typed */
const suggested = async (...words: string[]): Promise<string[]> => {
  const script = `
    source "$HOME/script.bash"
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _udnctl
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await run('bash', ['-c', script, 'bash', ...words]);
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
};

describe('bash', () => {
  it('completes commands and options', async () => {
    expect(await suggested('udnctl', 'pr')).toEqual(['problems']);
    expect(await suggested('udnctl', 'pods', '--all')).toEqual(['--all-namespaces']);
    expect(await suggested('udnctl', 'networks', '--output', '=', 'w')).toEqual(['wide']);
  });

  it('completes names from the API, by the namespace and the context', async () => {
    expect(await suggested('udnctl', 'why', 'web')).toEqual(['web-1', 'web-2']);
    expect(await suggested('udnctl', 'why', 'red/')).toEqual(['red/web-1', 'red/web-2']);
    expect(await suggested('udnctl', 'why', '--context', 'elsewhere', 'web')).toEqual(['']);
    expect(await suggested('udnctl', 'why', '--context', '')).toEqual(['elsewhere', 'here']);
    expect(await suggested('udnctl', 'why', 'udn', '')).toEqual(['net']);
    expect(await suggested('udnctl', 'why', 'cudn', '')).toEqual(['shop']);
    expect(await suggested('udnctl', 'pods', '--network', '')).toEqual(['red_net', 'cluster_udn_shop']);
    expect(await suggested('udnctl', 'pods', '-n', 'r')).toEqual(['red']);
    expect(await suggested('udnctl', 'explain', 'service', '')).toEqual(['red/shop']);
    expect(await suggested('udnctl', 'trace', '--to', '')).toEqual(['service/', 'red/web-1', 'red/web-2']);
    expect(await suggested('udnctl', 'trace', '--to', 'service/red/')).toEqual(['service/red/shop']);
  });

  it('leaves files to the shell, and says nothing when no server answers', async () => {
    expect(await suggested('udnctl', 'render', '-f', join(folder, 'con'))).toEqual([join(folder, 'config')]);
    expect(await suggested('udnctl', 'why', '--kubeconfig', '/nonexistent', 'we')).toEqual(['']);
  });
});

it('every script is read by its shell, where there is one', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await run('udnctl', ['completion', shell]);
    await writeFile(join(folder, `script.${shell}`), stdout);
    const { code, stderr } = await run(shell, ['-n', join(folder, `script.${shell}`)]);
    // Not all shells are everywhere: bash is.
    if (shell === 'bash' || code === 0) expect([code, stderr]).toEqual([0, '']);
  }
  expect((await run('udnctl', ['completion', 'tcsh'])).code).toBe(2);
});

describe('kubectl udn', () => {
  it('is found, and uses the kubeconfig with its context and namespace', async () => {
    const { stdout, stderr, code } = await runKubectl('udn', 'networks');
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).toMatch(/^NETWORK +OBJECT .*\nred_net +udn red\/net +layer2 +primary +10\.1\.0\.0\/16 /);
    expect(stdout).not.toContain('shop');
    expect((await runKubectl('udn', 'pods', '--context', 'elsewhere')).stdout).toBe(
      'no pods in namespace blue; -A shows all\n',
    );
    expect((await runKubectl('udn', 'pods', '--namespace=red', '-o', 'json')).stdout).toContain('"name": "web-1"');
  });

  it('answers with the exit status', async () => {
    const { stdout, code } = await runKubectl('udn', 'why', 'udn/red/net');
    expect([code, stdout]).toEqual([1, expect.stringContaining('no cluster manager has ever been leader')]);
    expect((await runKubectl('udn', 'why', 'node', 'x')).code).toBe(2);
    expect((await runKubectl('udn', 'why')).code).toBe(2);
  });

  it('has commands for nodes, which it asks by exec, and no options of a node’s own sockets', async () => {
    const { stdout } = await runKubectl('udn', '--help');
    expect(stdout).toContain('Usage: kubectl udn');
    expect(stdout).toMatch(/^ {2}trace/m);
    const trace = await runKubectl('udn', 'trace', '--help');
    expect(trace.stdout).toContain('--node <node>');
    expect(trace.stdout).not.toContain('--agent-socket');
  });

  it('is completed by kubectl', async () => {
    const { stdout } = await runKubectl('__complete', 'udn', 'why', 'web');
    expect(stdout.split('\n').slice(0, 3)).toEqual(['web-1', 'web-2', ':4']);
    expect((await runKubectl('__complete', 'udn', 'net')).stdout).toMatch(/^networks\t/);
  });
});
