// The SDK imports node:http for http:// endpoints, which only emulators and tests have. Imported as an ES module,
// all of its getters would run and load a second HTTP client.
module.exports = process.getBuiltinModule('node:http');
