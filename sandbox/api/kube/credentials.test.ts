import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConnection } from '../../../kube/config/load.ts';
import { type ClusterCredentials, makeCredentials } from './credentials.ts';
import { kubeletOf } from './identities.ts';
import { kubePaths } from './paths.ts';

let folder: string;
let credentials: ClusterCredentials;
const pathsOf = () => kubePaths(join(folder, 'api'));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'udn-credentials-'));
  const serverNames = ['localhost', '172.20.0.1'];
  credentials = await makeCredentials({
    ...{ paths: pathsOf(), server: 'https://172.20.0.1:6443', serverNames, now: Date.now() },
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const certificate = (path: string): X509Certificate => new X509Certificate(readFileSync(path));

describe('makeCredentials', () => {
  it('writes what the control plane reads, for nobody else', () => {
    const { folder: made, authority, serverCertificate } = pathsOf();
    for (const name of readdirSync(made)) expect(statSync(join(made, name)).mode & 0o077).toBe(0);
    expect(statSync(made).mode & 0o077).toBe(0);
    const serving = certificate(serverCertificate);
    expect(serving.checkIssued(certificate(authority))).toBe(true);
    expect(serving.checkIP('172.20.0.1')).toBe('172.20.0.1');
  });

  it('gives the controller manager a user of its own', async () => {
    const connection = await loadConnection({ kubeconfig: pathsOf().controllerManagerKubeconfig, env: {} });
    const { cert = '', ca } = await connection.credentials.tls();
    expect(connection.server).toBe('https://172.20.0.1:6443');
    expect(new X509Certificate(cert).subject).toBe('CN=system:kube-controller-manager');
    expect(ca).toBe(readFileSync(pathsOf().authority, 'utf8'));
  });
});

describe('kubeconfigs', () => {
  it('of a certificate', () => {
    const text = credentials.kubeconfig('https://a:1', kubeletOf('node-1'));
    const data = /client-certificate-data: (\S+)/.exec(text)?.[1] ?? '';
    expect(new X509Certificate(Buffer.from(data, 'base64')).subject).toBe('O=system:nodes\nCN=system:node:node-1');
    expect(text).toContain('client-key-data: ');
  });

  it('of a token', () => {
    const text = credentials.tokenKubeconfig('https://a:1', 'abc');
    expect(text).toMatch(/^ {6}token: abc$/m);
    expect(text).toContain('certificate-authority-data: ');
    expect(text).not.toContain('client-key');
  });
});
