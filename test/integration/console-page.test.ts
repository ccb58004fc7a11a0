/**
 * The page of `udnctl console` in a real browser: the program as users start it, the embedded API server with objects of a cluster that
 * has something of everything, and a headless Chromium. Needs root, for the browser's namespaces.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../../api/crd/crds.ts';
import { USER_DEFINED_NETWORKS } from '../../api/resources.ts';
import { messageOf } from '../../base/error-message.ts';
import { SAMPLE } from '../../cli/graph/testing/sample.ts';
import { startEmbeddedServer } from '../../kube/embedded/server.ts';
import type { EmbeddedServer } from '../../kube/embedded/types.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, PODS } from '../../kube/resources.ts';
import { type Browser, startBrowser } from '../../sandbox/browser/browser.ts';
import { ensureChromium } from '../../sandbox/browser/chromium-tree.ts';
import type { Page } from '../../sandbox/browser/page.ts';
import { createObjects } from './console-objects.ts';

/** Its path, or why there is none on this machine. */
const chromium = await ensureChromium(() => {}).then(
  (tree) => ({ tree }),
  (error: unknown) => ({ missing: messageOf(error) }),
);
const reason = 'missing' in chromium ? ` (skipped, no Chromium: ${chromium.missing})` : '';

/** Seconds, and a minute on a machine that does ten things at once. */
const START_MS = 180_000;

/** As a tenant may write into a condition. */
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202egnp';

interface Api {
  readonly server: EmbeddedServer;
  readonly port: number;
}

const startApi = async (data: string, port = 0): Promise<Api> => {
  const server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port }], data });
  return { server, port: Number(new URL(server.urls[0] ?? '').port) };
};

interface Console {
  readonly process: ChildProcess;
  readonly address: string;
}

const startConsole = async (kubeconfig: string): Promise<Console> => {
  const args = [join(import.meta.dirname, '../../cli/main.ts'), 'console', '--no-browser', '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: {} });
  const [address] = await once(createInterface(child.stdout), 'line');
  return { process: child, address: String(address) };
};

const stop = async ({ process: child }: Console): Promise<void> => {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
};

const text = (id: string): string => `document.getElementById(${JSON.stringify(id)}).innerText`;
const has = (id: string, part: string): string => `${text(id)}.includes(${JSON.stringify(part)})`;

describe.skipIf('missing' in chromium)(`the page of the console${reason}`, () => {
  let folder: string;
  let api: Api;
  let browser: Browser;
  let running: Console;
  let page: Page;
  const kubeconfig = (): string => join(folder, 'config');

  beforeAll(async () => {
    if ('missing' in chromium) return;
    folder = await mkdtemp(join(tmpdir(), 'udn-console-'));
    [api, browser] = await Promise.all([startApi(join(folder, 'data')), startBrowser(chromium.tree)]);
    const client = api.server.cluster.client();
    for (const file of Object.values(crdFiles())) await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(file));
    await api.server.cluster.settled();
    await createObjects(client, SAMPLE);
    await writeFile(kubeconfig(), api.server.kubeconfig());
    running = await startConsole(kubeconfig());
  }, START_MS);
  afterAll(async () => {
    await stop(running);
    await browser[Symbol.asyncDispose]();
    await api.server.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    page = await browser.open(running.address);
    await page.until(has('connection', 'Live'));
  });
  afterEach(() => page.close());

  it('shows networks, nodes and what does not work, and keeps the token out of the address', async () => {
    await page.until(has('networks', 'shop_net'));
    const shown = await page.evaluate<string>('document.body.innerText');
    for (const part of ['udn bank/net', 'node-3', 'shop/cart', 'no udn-agent has reported', 'no ready endpoint'])
      expect(shown).toContain(part);
    expect(await page.evaluate('location.href')).toBe(running.address.replace(/#.*/, ''));
    expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(running.address.split('#')[1]);
    expect(page.complaints).toEqual([]);
  });

  it('follows what happens without being loaded again', async () => {
    const client = api.server.cluster.client();
    await page.evaluate('window.isSame = true');
    await page.until(`!${has('networks', 'late_net')}`);
    await client.create(USER_DEFINED_NETWORKS, {
      metadata: { namespace: 'shop', name: 'late' },
      spec: { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.77.0.0/24'] } },
    });
    await page.until(has('networks', 'udn shop/late'));
    await client.delete(USER_DEFINED_NETWORKS, { namespace: 'shop', name: 'late' });
    await page.until(`!${has('networks', 'udn shop/late')}`);
    expect(await page.evaluate('window.isSame')).toBe(true);
  });

  it('shows what tenants write as text, and runs none of it', async () => {
    const client = api.server.cluster.client();
    const message = {
      conditions: [
        {
          type: 'Ready',
          status: 'False',
          observedGeneration: 1,
          reason: 'X',
          message: HOSTILE,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    const ref = { namespace: 'bank', name: 'net' };
    const before = await client.get(USER_DEFINED_NETWORKS, ref);
    await client.patch(
      USER_DEFINED_NETWORKS,
      ref,
      { type: 'merge', body: { status: message } },
      { subresource: 'status' },
    );
    await page.until(has('problems', '<img src=x onerror='));
    expect(await page.evaluate('document.querySelectorAll("img, main script").length')).toBe(0);
    expect(await page.evaluate('document.title')).toBe('ovn-udn console');
    expect(await page.evaluate(text('problems'))).toContain('\ufffdgnp');
    // The browser itself refuses to make HTML of text, and to run what is written into the page.
    await expect(page.evaluate('document.body.innerHTML = "<b>x</b>"')).rejects.toThrow(/TrustedHTML/);
    await client.patch(
      USER_DEFINED_NETWORKS,
      ref,
      { type: 'merge', body: { status: before['status'] } },
      { subresource: 'status' },
    );
  });

  it('is used by the keyboard alone, and has names for who does not see it', async () => {
    await page.until(has('networks', 'shop_net'));
    const tabTo = async (focus: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        await page.press('Tab');
        if (await page.evaluate(`document.activeElement?.dataset.focus === ${JSON.stringify(focus)}`)) return;
      }
      throw new Error(`no ${focus} by the tab key`);
    };
    await tabTo('network shop_net');
    await page.press('Enter');
    await page.until(has('matrix', 'pods of shop'));
    expect(await page.evaluate('document.activeElement.id')).toBe('detail-title');
    await tabTo('0 1');
    await page.press(' ');
    expect(await page.evaluate(text('why'))).toBe(
      'pods of shop → network bank_net: no, different networks are isolated from each other',
    );
    const names = await page.accessibleNames();
    const expected = [
      ...['heading: Health', 'heading: Networks', 'table: Problems', 'table: Nodes', 'button: shop_net'],
      ...['table: Who reaches whom of shop_net, by configuration', 'combobox: From pod', 'combobox: Protocol'],
      'button: pods of shop → its Services: yes, by their ClusterIPs',
    ];
    expect(expected.filter((name) => !names.includes(name))).toEqual([]);
    expect(await page.evaluate(text('detail'))).toContain('Nothing was measured.');
  });

  it('keeps the focus where it was when something changes', async () => {
    await page.evaluate('document.querySelector("[data-focus=\'network bank_net\']").focus()');
    const client = api.server.cluster.client();
    await client.create(PODS, {
      metadata: { namespace: 'shop', name: 'new' },
      spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
    });
    await page.until(has('problems', 'shop/new'));
    expect(await page.evaluate('document.activeElement.dataset.focus')).toBe('network bank_net');
    await client.delete(PODS, { namespace: 'shop', name: 'new' }, { gracePeriodSeconds: 0 });
  });

  it('says why a node cannot be asked for the path of a packet', async () => {
    await page.evaluate(`(() => {
      const { from, to } = document.getElementById('trace').elements;
      from.value = 'shop/web-0';
      to.value = 'shop/web-1';
      document.querySelector('#trace button').click();
    })()`);
    await page.until(has('answer-state', 'could not be asked'));
    expect(await page.evaluate(text('answer-state'))).toMatch(/no pod of udn-agent is on node node-1/);
  });

  it('is light and dark as the user has it', async () => {
    const ground = 'getComputedStyle(document.documentElement).backgroundColor';
    await page.setScheme('light');
    expect(await page.evaluate(ground)).toBe('rgb(255, 255, 255)');
    await page.setScheme('dark');
    expect(await page.evaluate(ground)).toBe('rgb(20, 23, 26)');
  });

  it('shows nothing to who has not got the token', async () => {
    const stranger = await browser.open(running.address.replace(/#.*/, ''));
    await stranger.until(has('connection', 'send the token'));
    expect(await stranger.evaluate(text('summary'))).toMatch(/^Unknown/);
    expect(await stranger.evaluate(text('networks'))).toBe('');
    await stranger.close();
  });

  it('is opened by the file that leads the browser to it, which is another site', async () => {
    const file = await browser.open('data:text/html,<title>file</title>');
    const refresh = JSON.stringify(`0;url=${running.address}`);
    await file.follow(`(() => {
      const meta = document.createElement('meta');
      meta.httpEquiv = 'refresh';
      meta.content = ${refresh};
      document.head.append(meta);
    })()`);
    await file.until(has('connection', 'Live'));
    await file.close();
  });

  it('gives nothing to pages of other origins, even with the token', async () => {
    const evil = await startEvilServer();
    const { port } = evil.address() as AddressInfo;
    try {
      const other = await browser.open(`http://127.0.0.1:${port}/`);
      await other.until('document.title === "evil"');
      const [origin = '', token = ''] = running.address.split('/#');
      const got = (init: string): Promise<string> =>
        other.evaluate(
          `fetch(${JSON.stringify(`${origin}/api/stream`)}, ${init}).then((r) => 'status ' + r.status, (e) => e.name)`,
        );
      expect(await got(`{ headers: { authorization: 'Bearer ${token}' } }`)).toBe('TypeError');
      expect(await got('{ credentials: "include" }')).toBe('TypeError');
      expect(await got('{ mode: "no-cors" }')).toMatch(/TypeError|status 0/);
      // A page of another origin cannot look into a frame in any case; that there is nothing in it is what the browser logs.
      await other.evaluate(`new Promise((resolve) => {
        const frame = document.createElement('iframe');
        frame.src = ${JSON.stringify(running.address)};
        frame.onload = resolve;
        document.body.append(frame);
      })`);
      expect(other.complaints.join('\n')).toMatch(/frame-ancestors|X-Frame-Options/);
      await other.close();
    } finally {
      evil.close();
    }
  });

  it('says that the API server is lost, does not call what it knew healthy, and goes on when it is back', async () => {
    await page.until(has('networks', 'shop_net'));
    await api.server.close();
    await page.until(has('connection', 'watches lost'));
    await page.until(has('summary', 'Unknown: the connection is lost'));
    expect(await page.evaluate('document.body.classList.contains("stale")')).toBe(true);
    // What was known is shown, with its age.
    expect(await page.evaluate(text('networks'))).toContain('shop_net');
    expect(await page.evaluate(text('connection'))).toMatch(/last heard \d+ s ago/);
    api = await startApi(join(folder, 'data'), api.port);
    await page.until(has('connection', 'Live'), 30_000);
    expect(await page.evaluate('document.body.classList.contains("stale")')).toBe(false);
  });

  it('says that the console has ended', async () => {
    await page.until(has('networks', 'shop_net'));
    await stop(running);
    await page.until(has('connection', 'Connection lost'));
    expect(await page.evaluate(text('summary'))).toMatch(/^Unknown/);
    running = await startConsole(kubeconfig());
  });
});

const startEvilServer = async (): Promise<Server> => {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>evil</title>'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
