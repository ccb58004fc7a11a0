import { expect, it } from 'vitest';
import { createExecPlugin } from './exec-plugin.ts';

const shell = (script: string) => ({ command: '/bin/sh', args: ['-c', script, 'secret-argument'] });

/** Its token says how often it has been run, and what input it got. */
const counting = (expirationTimestamp: string) => {
  const status = `{\\"token\\":\\"$$\\",\\"expirationTimestamp\\":\\"${expirationTimestamp}\\",\\"clientKeyData\\":\\"\\"}`;
  return shell(`cat >/dev/null; echo "{\\"status\\":${status}}"`);
};

it('keeps what a plugin says until it expires or is forgotten', async () => {
  const lasting = createExecPlugin(counting('2999-01-01T00:00:00Z'), {});
  const [first, second] = await Promise.all([lasting.credential(), lasting.credential()]);
  expect(first.token).toMatch(/^\d+$/);
  expect([second, first.key]).toEqual([first, undefined]);
  lasting.forget();
  expect(await lasting.credential()).not.toEqual(first);
  const expired = createExecPlugin(counting('2001-01-01T00:00:00Z'), {});
  expect(await expired.credential()).not.toEqual(await expired.credential());
});

it('passes it the server that it speaks for', async () => {
  const exec = shell('echo "{\\"status\\":{\\"token\\":\\"$OWN $(printf %s "$KUBERNETES_EXEC_INFO" | wc -c)\\"}}"');
  const plugin = createExecPlugin({ ...exec, env: [{ name: 'OWN', value: 'x' }] }, { server: 'https://a' });
  const info = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: 'https://a' } },
  };
  expect((await plugin.credential()).token).toBe(`x ${JSON.stringify(info).length}`);
});

it.each([
  ['exit 3', 'credential plugin /bin/sh: it ended with 3'],
  ['echo "log in first" >&2; exit 1', 'credential plugin /bin/sh: log in first'],
  ['echo "{\\"token\\": secret-output"', 'credential plugin /bin/sh: it printed no ExecCredential'],
  ['echo "{}"', 'credential plugin /bin/sh: it printed no ExecCredential'],
])('says why %s gives no credential, and runs it again', async (script, message) => {
  const plugin = createExecPlugin(shell(script), {});
  for (const _ of [1, 2]) {
    const error: unknown = await plugin.credential().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ERR_KUBE_CONFIG', message: expect.stringContaining(message) });
    expect(String(error)).not.toContain('secret-');
  }
});
