/** With VRFs, on the kernel's datapath. Needs root and `make build`. */
import { cleanup } from './support/state/cleanup.ts';

cleanup({ name: 'test-cleanup-local', nodes: 1, needs: ['vrf', 'kernel-datapath'], gatewayMode: 'local' });
