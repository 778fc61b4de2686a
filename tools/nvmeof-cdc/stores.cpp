// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stores.h"

#include "etcd_store.h"
#include "libctl/base/file.h"
#include "sqlite_store.h"

namespace cdc {

using nvmeof::Result;

namespace {

Result<EtcdOptions> optionsOf(const EtcdRules &rules)
{
	EtcdOptions options;
	options.etcd.endpoints = rules.endpoints;
	options.etcd.tls = {rules.ca, rules.certificate, rules.key};
	options.etcd.user = rules.user;
	if (!rules.passwordFile.empty()) {
		Result<std::string> password = nofctl::readSmallFile(rules.passwordFile);
		if (!password)
			return password.error();
		options.etcd.password = password->substr(0, password->find('\n'));
	}
	options.prefix = rules.prefix;
	options.cache = rules.cache;
	return options;
}

} // namespace

Result<std::unique_ptr<Store>> makeStore(serving::Loop &loop, const StoreRules &rules, bool rebuild)
{
	if (rules.engine == StoreRules::Engine::sqlite)
		return std::unique_ptr<Store>(std::make_unique<SqliteStore>(loop, rules.file, rebuild));
	Result<EtcdOptions> options = optionsOf(rules.etcd);
	if (!options)
		return options.error();
	options->rebuild = rebuild;
	return std::unique_ptr<Store>(std::make_unique<EtcdStore>(loop, *std::move(options)));
}

} // namespace cdc
