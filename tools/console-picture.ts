/**
 * `npm run picture:console`: the picture of docs/console.md, of a real cluster: the tenants of examples/demo on two nodes of a sandbox, one
 * of which has an ovn-controller that hangs. Needs root and `make build`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startBrowser } from '../sandbox/browser/browser.ts';
import { ensureChromium } from '../sandbox/browser/chromium-tree.ts';
import { type Sandbox, startSandbox } from '../sandbox/index.ts';
import { readManifests } from '../sandbox/objects/manifests.ts';

const PICTURE = 'docs/images/console.png';
const NETWORK = 'red_red';
const MAX_BYTES = 200_000;
/** A hang is found within 15 s (docs/udnctl.md). */
const FOUND_MS = 60_000;

const main = async (): Promise<void> => {
  const tree = await ensureChromium(console.log);
  await using sandbox = await startSandbox({ name: 'console-picture', nodes: 2, ipFamily: 'dual' });
  await createTenants(sandbox);
  await sandbox.kill('node-2', 'ovn-controller', 'SIGSTOP');
  const { kubeconfig } = await sandbox.status();
  const child = spawn(process.execPath, ['cli/main.ts', 'console', '--no-browser', '--kubeconfig', kubeconfig ?? ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [address] = await once(createInterface(child.stdout), 'line');
    await takePicture(tree, String(address));
  } finally {
    child.kill('SIGTERM');
  }
};

const createTenants = async (sandbox: Sandbox): Promise<void> => {
  const files = globSync('examples/demo/*.yaml').sort();
  const manifests = (await Promise.all(files.map((file) => readManifests(join(process.cwd(), file))))).flat();
  const objects = await sandbox.objects();
  await objects.apply(manifests);
  const pods = manifests
    .filter(({ kind }) => kind === 'Pod')
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  await Promise.all(pods.map((pod) => objects.wait('pod', pod, 'ready')));
};

const takePicture = async (tree: string, address: string): Promise<void> => {
  await using browser = await startBrowser(tree);
  const page = await browser.open(address);
  await page.setSize(1280, 1180);
  await page.setScheme('light');
  await page.until(`document.getElementById('networks').innerText.includes('${NETWORK}')`);
  await page.until(`document.getElementById('nodes').innerText.includes('ovn-controller')`, FOUND_MS);
  await page.evaluate(`document.querySelector("[data-focus='network ${NETWORK}']").click()`);
  await page.until(`document.querySelector('.matrix .no') !== null`);
  await page.evaluate(
    `document.querySelector("[data-focus='0 1']").click(); scrollTo(0, 0); document.activeElement.blur()`,
  );
  const picture = await page.screenshot();
  if (picture.length > MAX_BYTES)
    throw new Error(`${PICTURE} would have ${picture.length} bytes, more than ${MAX_BYTES}`);
  writeFileSync(PICTURE, picture);
  console.log(`${PICTURE}: ${statSync(PICTURE).size} bytes`);
};

await main();
