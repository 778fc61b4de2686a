// SPDX-License-Identifier: LGPL-2.1-or-later
#include "module.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <libkmod.h>

namespace nofctl {

using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

struct Free {
	void operator()(kmod_ctx *context) const { kmod_unref(context); }
	void operator()(kmod_module *module) const { kmod_module_unref(module); }
	void operator()(kmod_list *list) const { kmod_module_unref_list(list); }
};

// Reasons for the errnos of finit_module(2) and of the module lookup.
std::string reasonOf(int sysErrno)
{
	switch (sysErrno) {
	case ENOENT:
		return "it is not installed for the running kernel, or a symbol that it needs is missing";
	case ENOEXEC:
		return "it was built for another kernel (version magic or format)";
	case EKEYREJECTED:
	case ENOKEY:
		return "it has no signature, or one by a key that the kernel does not know, which Secure Boot or "
		       "module.sig_enforce demands";
	case EPERM:
		return "the kernel forbids it (lockdown, modules_disabled, or no CAP_SYS_MODULE)";
	case EINVAL:
		return "the kernel refused its symbol versions or parameters";
	default:
		return std::strerror(sysErrno);
	}
}

int insert(kmod_module *module)
{
	return kmod_module_probe_insert_module(module, KMOD_PROBE_APPLY_BLACKLIST, nullptr, nullptr, nullptr, nullptr);
}

} // namespace

Error moduleError(const std::string &name, int result)
{
	bool blacklisted = result > 0 && (result & KMOD_PROBE_APPLY_BLACKLIST);
	Error error;
	error.code = ErrorCode::noModule;
	error.sysErrno = result < 0 ? -result : EPERM;
	error.object = {nvmeof::ErrorObject::Kind::module, name};
	error.message = "cannot load kernel module " + name + ": " +
			(blacklisted ? "modprobe's configuration blacklists it" : reasonOf(error.sysErrno));
	return error;
}

Result<void> loadModule(const std::string &name)
{
	std::unique_ptr<kmod_ctx, Free> context(kmod_new(nullptr, nullptr));
	if (!context)
		return nvmeof::errorFromErrno(ENOMEM);
	kmod_set_log_fn(
		context.get(), [](void *, int, const char *, int, const char *, const char *, va_list) {}, nullptr);
	kmod_list *found = nullptr;
	int result = kmod_module_new_from_lookup(context.get(), name.c_str(), &found);
	std::unique_ptr<kmod_list, Free> list(found);
	if (result < 0 || !list)
		return moduleError(name, result < 0 ? result : -ENOENT);
	for (kmod_list *entry = list.get(); entry; entry = kmod_list_next(list.get(), entry)) {
		std::unique_ptr<kmod_module, Free> module(kmod_module_get_module(entry));
		result = insert(module.get());
		if (result != 0)
			return moduleError(name, result);
	}
	return {};
}

} // namespace nofctl
