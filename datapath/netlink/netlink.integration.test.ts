import { linuxHarness } from './harness.suite.ts';
import { hostSuite } from './kernel/host.suite.ts';
import { kernelSuite } from './kernel/kernel.suite.ts';
import { podInterfaceSuite } from './pod-interface/pod-interface.suite.ts';

kernelSuite('Linux', linuxHarness);
hostSuite('Linux', linuxHarness);
podInterfaceSuite('Linux', linuxHarness);
