import { expect, it } from 'vitest';
import { kubePaths } from '../api/kube/paths.ts';
import { egressConfiguration, konnectivityManifests, konnectivityServerCommand } from './settings.ts';

const PATHS = kubePaths('/data');

it('the API server and konnectivity’s server meet at one socket', () => {
  const { egressSelections } = JSON.parse(egressConfiguration(PATHS));
  expect(egressSelections).toEqual([
    {
      name: 'cluster',
      connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName: PATHS.konnectivitySocket } } },
    },
  ]);
  expect(konnectivityServerCommand('server', PATHS).args).toContain(`--uds-name=${PATHS.konnectivitySocket}`);
});

it('agents have tokens that the server accepts, and find it at its port', () => {
  const [account, , agents] = konnectivityManifests('172.20.0.1', 2);
  const { args } = konnectivityServerCommand('server', PATHS);
  const text = JSON.stringify(agents);
  expect(args).toContain(`--agent-namespace=${account?.metadata.namespace}`);
  expect(args).toContain(`--agent-service-account=${account?.metadata.name}`);
  const audience = args.find((arg) => arg.startsWith('--authentication-audience='))?.split('=')[1];
  expect(text).toContain(`"audience":"${audience}"`);
  const port = args.find((arg) => arg.startsWith('--agent-port='))?.split('=')[1];
  expect(text).toContain(`"--proxy-server-host=172.20.0.1","--proxy-server-port=${port}"`);
  expect(agents?.['spec']).toMatchObject({ replicas: 2 });
});
